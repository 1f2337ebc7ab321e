/// A hash of an object's keys, so that most comparisons need not look at the bytes.
enum JSONKeyHash {
    private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The hash of the key in `range`, of its unescaped form. Neither keyed nor strong: a client can choose keys of
    /// equal hashes, which costs time (see ``JSONParser/duplicateKey(of:_:)`` for the bound) and never changes a
    /// result.
    @inline(__always)
    static func hash(_ text: Span<UInt8>, _ range: Range<Int>, escaped: Bool) -> UInt32 {
        escaped ? hashUnescaped(text, range) : hash(text, range)
    }

    @inline(never)
    private static func hashUnescaped(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt32 {
        var key: [UInt8] = []
        JSONEscape.appendUnescaped(text, range, to: &key)
        return hash(key.span, 0..<key.count)
    }

    @inline(__always)
    private static func hash(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt32 {
        var hash = UInt64(truncatingIfNeeded: range.count)
        var position = range.lowerBound
        while position + 8 <= range.upperBound {
            hash = mix(hash ^ text.word(at: position))
            position += 8
        }
        let rest = range.upperBound - position
        if rest > 0 {
            // One masked load where the array goes on, byte by byte at its end: the same word either way.
            var word: UInt64 = 0
            if position + 8 <= text.count {
                word = text.word(at: position) & (UInt64.max >> UInt64(64 - 8 * rest))
            } else {
                for index in 0..<rest { word |= UInt64(text[position + index]) << UInt64(8 * index) }
            }
            hash = mix(hash ^ word)
        }
        return UInt32(truncatingIfNeeded: hash >> 32)
    }

    @inline(__always)
    private static func mix(_ value: UInt64) -> UInt64 {
        let product = value &* multiplier
        return product ^ product >> 32
    }
}
