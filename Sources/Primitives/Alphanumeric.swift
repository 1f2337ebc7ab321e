/// The letters and digits of ASCII.
public enum Alphanumeric {
    /// Whether `byte` is one of `A` to `Z`, `a` to `z` and `0` to `9`.
    @inlinable @inline(__always)
    public static func contains(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
    }

    /// Whether `byte` may occur in a label of a host name: a letter, a digit, `-` or `_`.
    @inlinable @inline(__always)
    public static func isInHostName(_ byte: UInt8) -> Bool {
        contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
