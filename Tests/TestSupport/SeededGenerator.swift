/// Random numbers that are the same in every run (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension SeededGenerator {
    /// True once in `count` times on average.
    package mutating func chance(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// A number of `range`, uniformly.
    package mutating func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self) }

    /// A number of either sign; all magnitudes in bits are equally likely.
    package mutating func number() -> Int64 {
        let magnitude = Int64(bitPattern: next()) >> Int64.random(in: 0...63, using: &self)
        return chance(oneIn: 8) ? [0, 1, -1, .max, .min].randomElement(using: &self) ?? 0 : magnitude
    }

    /// `count` random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// Random bytes; their number is drawn from `range`.
    package mutating func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: range, using: &self)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// `bytes` with one to four of them changed, removed, doubled or cut off.
    package mutating func mutation(of bytes: [UInt8], alphabet: [UInt8] = []) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &self)
            let byte = alphabet.randomElement(using: &self) ?? UInt8(truncatingIfNeeded: next())
            switch Int.random(in: 0..<5, using: &self) {
            case 0: bytes[place] = byte
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(byte, at: place)
            case 3: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }
}
