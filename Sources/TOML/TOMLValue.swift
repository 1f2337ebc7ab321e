/// A value, with as much of it as a configuration needs.
public enum TOMLValue: Sendable, Equatable {
    /// A string.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction or an exponent, `inf` or `nan`.
    case float
    /// `true` or `false`.
    case boolean(Bool)
    /// A date, a time, or both.
    case time
    /// An array with its elements; an array inside it has none here.
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
