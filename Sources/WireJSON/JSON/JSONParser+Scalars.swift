// The scalars of the grammar: strings, numbers, and the three words.

extension JSONParser {
    /// Reads a string from its opening quote past its closing one.
    /// - Returns: the bytes between the quotes, and whether any are escapes.
    @inline(__always)
    mutating func readString(_ text: Span<UInt8>) throws(JSONFailure) -> (range: Range<Int>, escaped: Bool) {
        position += 1
        let start = position
        var escaped = false
        while true {
            skipPlain(text)
            guard position < end else { throw failure(.unexpectedEnd) }
            let byte = text[position]
            if byte == ASCII.quote {
                position += 1
                return (start..<position - 1, escaped)
            }
            if byte == ASCII.backslash {
                try readEscape(text)
                escaped = true
            } else if byte >= 0x80 {
                try readMultibyte(text)
            } else {
                throw failure(.controlCharacter)
            }
        }
    }

    /// Moves to the next byte that is no plain ASCII character of a string, or to the end.
    @inline(__always)
    private mutating func skipPlain(_ text: Span<UInt8>) {
        while position + 8 <= end {
            let special = WordScan.special(text.word(at: position))
            if special != 0 {
                position += WordScan.bytesBefore(special)
                return
            }
            position += 8
        }
        while position < end {
            let byte = text[position]
            if byte < 0x20 || byte >= 0x80 || byte == ASCII.quote || byte == ASCII.backslash { return }
            position += 1
        }
    }

    /// Reads characters beyond ASCII until the next ASCII byte.
    private mutating func readMultibyte(_ text: Span<UInt8>) throws(JSONFailure) {
        while position < end, text[position] >= 0x80 {
            let length = UTF8Sequence.length(text, position, end)
            guard length > 0 else { throw failure(.invalidUTF8) }
            position += length
        }
    }

    /// Reads one escape, two of them for a surrogate pair.
    private mutating func readEscape(_ text: Span<UInt8>) throws(JSONFailure) {
        guard position + 1 < end else {
            position = end
            throw failure(.unexpectedEnd)
        }
        switch text[position + 1] {
        case ASCII.quote, ASCII.backslash, ASCII.slash, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let unit = try hexUnit(text, position)
            if unit & 0xFC00 == 0xD800 {
                guard position + 7 < end, text[position + 6] == ASCII.backslash,
                    text[position + 7] == UInt8(ascii: "u"),
                    try hexUnit(text, position + 6) & 0xFC00 == 0xDC00
                else { throw failure(.loneSurrogate) }
                position += 12
            } else {
                guard unit & 0xFC00 != 0xDC00 else { throw failure(.loneSurrogate) }
                position += 6
            }
        default:
            throw failure(.invalidEscape)
        }
    }

    /// The four hexadecimal digits of the `\u` escape at `offset`.
    private func hexUnit(_ text: Span<UInt8>, _ offset: Int) throws(JSONFailure) -> UInt32 {
        guard offset + 6 <= end else { throw JSONFailure(offset: offset, reason: .invalidEscape) }
        guard let unit = JSONEscape.unit(text, offset) else {
            throw JSONFailure(offset: offset, reason: .invalidEscape)
        }
        return unit
    }

    /// Reads a number: `-`, digits without a leading zero, a fraction, an exponent.
    @inline(__always)
    mutating func readNumber(_ text: Span<UInt8>) throws(JSONFailure) -> Range<Int> {
        let start = position
        if text[position] == ASCII.minus { position += 1 }
        let first = position
        try readDigits(text)
        if text[first] == ASCII.zero, position > first + 1 {
            position = first
            throw failure(.invalidNumber)
        }
        if position < end, text[position] == ASCII.dot {
            position += 1
            try readDigits(text)
        }
        if position < end, ASCII.isExponent(text[position]) {
            position += 1
            if position < end, text[position] == ASCII.plus || text[position] == ASCII.minus { position += 1 }
            try readDigits(text)
        }
        return start..<position
    }

    /// Reads one digit or more.
    @inline(__always)
    private mutating func readDigits(_ text: Span<UInt8>) throws(JSONFailure) {
        let start = position
        while position < end, ASCII.isDigit(text[position]) { position += 1 }
        guard position > start else { throw failure(position < end ? .invalidNumber : .unexpectedEnd) }
    }

    /// Reads `word`, one of the three that JSON knows.
    @inline(__always)
    mutating func readWord(_ word: StaticString, _ text: Span<UInt8>) throws(JSONFailure) -> Range<Int> {
        let range = position..<position + word.utf8CodeUnitCount
        guard range.upperBound <= end, text.equals(word, in: range) else { throw failure(.expectedValue) }
        position = range.upperBound
        return range
    }
}
