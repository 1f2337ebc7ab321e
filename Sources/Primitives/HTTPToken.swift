/// The bytes of a token, which names of methods and of header fields are (RFC 9110, 5.6.2).
public enum HTTPToken {
    /// Whether a token may hold `byte`.
    @inlinable @inline(__always)
    public static func allows(_ byte: UInt8) -> Bool {
        (byte < 64 ? below64 >> byte : from64 >> (byte - 64)) & 1 != 0
    }

    /// Whether `text` is a token.
    public static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(allows) }

    // One bit a character: letters, digits and !#$%&'*+-.^_`|~
    @inlinable static var below64: UInt64 { 0x03FF_6CFA_0000_0000 }
    @inlinable static var from64: UInt64 { 0x57FF_FFFF_C7FF_FFFE }
}
