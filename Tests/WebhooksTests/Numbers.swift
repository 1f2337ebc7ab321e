/// Random numbers that are the same in every run (SplitMix64).
struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    mutating func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: range, using: &self)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// `bytes` with one to four of them changed, removed, doubled or cut off.
    mutating func mutation(of bytes: [UInt8], alphabet: [UInt8] = []) -> [UInt8] {
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
