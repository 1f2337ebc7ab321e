/// Characters beyond ASCII in UTF-8.
enum UTF8Sequence {
    /// The length of the well-formed sequence that starts at `offset` with a byte of 0x80 or above, or 0 where there is
    /// none before `end`: Unicode 16, table 3-7, so no overlong forms, no surrogates, nothing over U+10FFFF.
    @inline(__always)
    static func length(_ text: Span<UInt8>, _ offset: Int, _ end: Int) -> Int {
        let first = text[offset]
        guard first >= 0xC2, first <= 0xF4 else { return 0 }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard offset + length <= end else { return 0 }
        let second = text[offset + 1]
        switch first {
        case 0xE0: guard second >= 0xA0, second <= 0xBF else { return 0 }
        case 0xED: guard second >= 0x80, second <= 0x9F else { return 0 }
        case 0xF0: guard second >= 0x90, second <= 0xBF else { return 0 }
        case 0xF4: guard second >= 0x80, second <= 0x8F else { return 0 }
        default: guard second & 0xC0 == 0x80 else { return 0 }
        }
        for index in 2..<max(length, 2) where text[offset + index] & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// Appends `scalar`, which is no surrogate, as UTF-8.
    static func append(_ scalar: UInt32, to output: inout [UInt8]) {
        func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: scalar >> shift & 0x3F) }
        func lead(_ mark: UInt8, _ shift: UInt32) -> UInt8 { mark | UInt8(truncatingIfNeeded: scalar >> shift) }
        if scalar < 0x80 {
            output.append(lead(0, 0))
        } else if scalar < 0x800 {
            output.append(lead(0xC0, 6))
            output.append(tail(0))
        } else if scalar < 0x10000 {
            output.append(lead(0xE0, 12))
            output.append(tail(6))
            output.append(tail(0))
        } else {
            output.append(lead(0xF0, 18))
            output.append(tail(12))
            output.append(tail(6))
            output.append(tail(0))
        }
    }
}
