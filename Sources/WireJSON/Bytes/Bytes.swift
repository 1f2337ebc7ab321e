// The unsafe accesses to memory of this module, but for `ByteBuffer`: loads of eight bytes, copies, and the bytes of
// static strings.

extension Span<UInt8> {
    /// The eight bytes at `offset`, the first one lowest. The load is checked against the span's bounds.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Every bit pattern is a UInt64, which is all the unsafe load asks of its caller.
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Whether the bytes of `range` are those of `text`.
    @inline(__always)
    package func equals(_ text: StaticString, in range: Range<Int>) -> Bool {
        guard text.utf8CodeUnitCount == range.count else { return false }
        return text.withUTF8Buffer { buffer in
            for index in 0..<range.count where unsafe buffer[index] != self[range.lowerBound + index] { return false }
            return true
        }
    }

    /// The offset of the first `byte` from `start` on; nil where there is none.
    public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        while index + 8 <= count {
            let found = WordScan.equal(word(at: index), to: byte)
            if found != 0 { return index + WordScan.bytesBefore(found) }
            index += 8
        }
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// Whether the bytes of two ranges are the same.
    func equal(_ first: Range<Int>, _ second: Range<Int>) -> Bool {
        guard first.count == second.count else { return false }
        for index in 0..<first.count where self[first.lowerBound + index] != self[second.lowerBound + index] {
            return false
        }
        return true
    }
}

extension [UInt8] {
    /// Appends the bytes of `text`.
    public mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { buffer in unsafe append(contentsOf: buffer) }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a copy of `source`.
    @inline(__always)
    package mutating func append(copying source: Span<UInt8>) {
        unsafe source.withUnsafeBufferPointer { source in unsafe append(copying: source) }
    }

    /// Appends the bytes of `text`.
    @inline(__always)
    package mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { text in unsafe append(copying: text) }
    }

    @inline(__always)
    private mutating func append(copying source: UnsafeBufferPointer<UInt8>) {
        precondition(source.count <= freeCapacity, "the room was counted before")
        unsafe withUnsafeMutableBufferPointer { room, count in
            _ = unsafe UnsafeMutableBufferPointer(rebasing: room[count...]).update(fromContentsOf: source)
            count += source.count
        }
    }
}

/// Finds bytes eight at a time within one word, the first byte lowest.
///
/// The masks have bit 7 of a byte set where the byte matches. A borrow can set bits *above* a match too, never below
/// one, so only the lowest set bit means anything; and no bit set means no match.
enum WordScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Bytes that are no plain string character: quote, backslash, below 0x20, or 0x80 and above.
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 {
        (zeros(word ^ (ones &* UInt64(ASCII.quote))) | zeros(word ^ (ones &* UInt64(ASCII.backslash)))
            | controls(word) | word) & highs
    }

    /// Bytes that a JSON string has to escape: quote, backslash, below 0x20.
    @inline(__always)
    static func escapable(_ word: UInt64) -> UInt64 {
        (zeros(word ^ (ones &* UInt64(ASCII.quote))) | zeros(word ^ (ones &* UInt64(ASCII.backslash)))
            | controls(word)) & highs
    }

    /// Bytes that are `byte`.
    @inline(__always)
    static func equal(_ word: UInt64, to byte: UInt8) -> UInt64 { zeros(word ^ (ones &* UInt64(byte))) & highs }

    /// The number of bytes below the lowest match of `mask`.
    @inline(__always)
    static func bytesBefore(_ mask: UInt64) -> Int { mask.trailingZeroBitCount >> 3 }

    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }

    @inline(__always)
    private static func controls(_ word: UInt64) -> UInt64 { (word &- ones &* 0x20) & ~word }
}
