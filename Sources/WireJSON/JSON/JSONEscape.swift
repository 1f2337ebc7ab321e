import Primitives

/// Escapes within JSON strings.
enum JSONEscape {
    /// The value of the four hexadecimal digits of the `\uhhhh` at `offset`, or nil where they are none.
    static func unit(_ text: Span<UInt8>, _ offset: Int) -> UInt32? {
        var value: UInt32 = 0
        for index in offset + 2..<offset + 6 {
            guard let digit = Hexadecimal.value(text[index]) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    /// Appends the bytes of `range`, the inside of a string that the parser accepted, with their escapes resolved.
    static func appendUnescaped(_ text: Span<UInt8>, _ range: Range<Int>, to output: inout [UInt8]) {
        var plain = range.lowerBound
        var position = plain
        while position < range.upperBound {
            guard text[position] == ASCII.backslash else {
                position += 1
                continue
            }
            output.append(copying: text.extracting(plain..<position))
            position += resolve(text, position, to: &output)
            plain = position
        }
        output.append(copying: text.extracting(plain..<position))
    }

    /// Appends the character that the escape at `offset` means.
    /// - Returns: the length of the escape.
    private static func resolve(_ text: Span<UInt8>, _ offset: Int, to output: inout [UInt8]) -> Int {
        switch text[offset + 1] {
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "u"):
            let high = unit(text, offset) ?? 0
            guard high & 0xFC00 == 0xD800 else {
                UTF8Sequence.append(high, to: &output)
                return 6
            }
            let low = unit(text, offset + 6) ?? 0
            UTF8Sequence.append(0x10000 + ((high & 0x3FF) << 10 | low & 0x3FF), to: &output)
            return 12
        case let byte: output.append(byte)
        }
        return 2
    }

    /// The offset of the first byte in `range` that a JSON string has to escape: quote, backslash or control
    /// character. The range's end where there is none.
    @inline(__always)
    static func next(_ text: Span<UInt8>, _ range: Range<Int>) -> Int {
        var position = range.lowerBound
        while position + 8 <= range.upperBound {
            let found = WordScan.escapable(text.word(at: position))
            if found != 0 { return position + WordScan.bytesBefore(found) }
            position += 8
        }
        while position < range.upperBound {
            let byte = text[position]
            if byte < 0x20 || byte == ASCII.quote || byte == ASCII.backslash { break }
            position += 1
        }
        return position
    }

    /// The most bytes of an escape as it is written.
    static let longest = 6

    /// Appends the escape of a byte that needs one: in its two-character form if there is one, else `\u00xx`.
    static func append(_ byte: UInt8, to output: inout OutputSpan<UInt8>) {
        output.append(ASCII.backslash)
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case 0..<0x20:
            output.append("u00")
            output.append(Hexadecimal.digit(byte >> 4))
            output.append(Hexadecimal.digit(byte))
        default: output.append(byte)
        }
    }
}
