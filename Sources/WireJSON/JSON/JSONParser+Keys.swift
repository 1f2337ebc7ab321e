extension JSONParser {
    /// The number of members up to which each is compared with those before it; more are sorted.
    private static let fewMembers = 16

    /// The first member whose key an earlier member has, in the complete, not empty `object`; nil where there is
    /// none.
    ///
    /// Large objects cost O(n log n): their keys are sorted by hash, and keys of the same hash by their bytes, so
    /// that a flood of equal hashes costs no more than a sort of the object's text.
    @inline(__always)
    mutating func duplicateKey(of object: UInt32, _ text: Span<UInt8>) -> UInt32? {
        let first = object + 1
        var seen: UInt64 = 0
        var count = 0
        var child = first
        repeat {
            // A bit that is not set proves that the key is new.
            let bit: UInt64 = 1 << UInt64(nodes[Int(child)].keyHash & 63)
            if seen & bit != 0, isRepeated(child, from: first, text) { return child }
            seen |= bit
            count += 1
            if count > Self.fewMembers { return duplicateKey(ofLarge: object, text) }
            child = nodes[Int(child)].next
        } while child != JSONEntry.none
        return nil
    }

    private func isRepeated(_ child: UInt32, from first: UInt32, _ text: Span<UInt8>) -> Bool {
        var earlier = first
        while earlier != child {
            if haveSameKey(earlier, child, text) { return true }
            earlier = nodes[Int(earlier)].next
        }
        return false
    }

    private func haveSameKey(_ first: UInt32, _ second: UInt32, _ text: Span<UInt8>) -> Bool {
        let (first, second) = (nodes[Int(first)], nodes[Int(second)])
        guard first.keyHash == second.keyHash else { return false }
        guard first.keyEscaped || second.keyEscaped else { return text.equal(first.keyRange, second.keyRange) }
        return unescapedKey(first, text) == unescapedKey(second, text)
    }

    private func unescapedKey(_ entry: JSONEntry, _ text: Span<UInt8>) -> [UInt8] {
        var key: [UInt8] = []
        JSONEscape.appendUnescaped(text, entry.keyRange, to: &key)
        return key
    }

    @inline(never)
    private mutating func duplicateKey(ofLarge object: UInt32, _ text: Span<UInt8>) -> UInt32? {
        scratch.removeAll(keepingCapacity: true)
        var child = object + 1
        while child != JSONEntry.none {
            scratch.append(UInt64(nodes[Int(child)].keyHash) << 32 | UInt64(child))
            child = nodes[Int(child)].next
        }
        scratch.sort()
        var duplicate: UInt32?
        var start = 0
        while start < scratch.count {
            var stop = start + 1
            while stop < scratch.count, scratch[stop] >> 32 == scratch[start] >> 32 { stop += 1 }
            if stop - start > 1, let found = duplicateKey(inRun: start..<stop, text) {
                duplicate = min(found, duplicate ?? found)
            }
            start = stop
        }
        return duplicate
    }

    /// The first duplicate among members of the same hash: a range of `scratch`.
    private func duplicateKey(inRun run: Range<Int>, _ text: Span<UInt8>) -> UInt32? {
        var keys: [(bytes: [UInt8], child: UInt32)] = []
        for index in run {
            let child = UInt32(truncatingIfNeeded: scratch[index])
            keys.append((unescapedKey(nodes[Int(child)], text), child))
        }
        keys.sort { first, second in
            first.bytes == second.bytes
                ? first.child < second.child : first.bytes.lexicographicallyPrecedes(second.bytes)
        }
        var duplicate: UInt32?
        for index in 1..<keys.count where keys[index].bytes == keys[index - 1].bytes {
            duplicate = min(keys[index].child, duplicate ?? keys[index].child)
        }
        return duplicate
    }
}

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
