/// A value.
public enum TOMLValue: Sendable, Equatable {
    /// A string.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction or an exponent, `inf` or `nan`.
    case float(Double)
    /// `true` or `false`.
    case boolean(Bool)
    /// A date, a time, or both, as RFC 3339 spells them; an offset only where the document has one.
    case time(String)
    /// An array with its elements.
    case array([Element])
    /// A table, whichever way it is written, with its entries by line.
    case table([TOMLEntry])

    /// An element of an array.
    public struct Element: Sendable, Equatable {
        /// The element.
        public var value: TOMLValue
        /// The line it is on, from 1.
        public var line: Int
    }
}
