/// A value, as far as it is looked into.
public enum TOMLValue: Sendable, Equatable {
    /// A string.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction or an exponent, `inf` or `nan`.
    case float
    /// `true` or `false`.
    case boolean
    /// A date, a time, or both.
    case time
    /// An array with its elements; of one in it only that it is there.
    case array([Element])
    /// A table, whichever way it is written.
    case table

    /// An element of an array.
    public struct Element: Sendable, Equatable {
        /// The element.
        public var value: TOMLValue
        /// The line it is on, from 1.
        public var line: Int
    }
}
