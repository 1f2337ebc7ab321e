/// Bytes of HTTP's grammar (RFC 9110, 5.6).
enum ASCII {
    /// The byte in lower case if it is a letter, else unchanged.
    @inline(__always) static func lowercase(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// The bytes without spaces and tabs at both ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return bytes
    }

    /// Whether the bytes are `text`.
    static func isSame(_ bytes: Span<UInt8>, _ text: StaticString) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in text.indices {
                guard unsafe text[index] == bytes[index] else { return false }
            }
            return true
        }
    }

    /// Whether the bytes in `range` are `text`, ignoring case.
    @inline(__always) static func isSame(_ bytes: [UInt8], _ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in 0..<range.count {
                guard lowercase(bytes[range.lowerBound + index]) == lowercase(unsafe text[index]) else { return false }
            }
            return true
        }
    }
}
