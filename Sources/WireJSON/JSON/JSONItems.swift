/// The elements of a JSON array, found one by one, so that an array of any length can be read with the memory of
/// one element.
///
/// Only the commas and brackets between elements are looked at: whether an element is JSON shows when it is parsed.
public struct JSONItems {
    private let text: [UInt8]
    private var position: Int
    private var isFirst = true
    private var isOver = false

    /// Begins to read `text`; nil where it does not begin as an array does.
    public init?(_ text: [UInt8]) {
        guard let start = text.firstIndex(where: { !ASCII.isSpace($0) }), text[start] == ASCII.openBracket else {
            return nil
        }
        self.text = text
        position = start + 1
    }

    /// The bytes of the next element, without the white space around them; nil after the last one.
    ///
    /// - Throws: `JSONError` where an element is missing, the array has no end, or something follows it.
    public mutating func next() throws(JSONError) -> Range<Int>? {
        guard !isOver else { return nil }
        skipSpace()
        if isFirst, position < text.count, text[position] == ASCII.closeBracket {
            position += 1
            try end()
            return nil
        }
        isFirst = false
        let start = position
        try skipElement()
        var bound = position
        while bound > start, ASCII.isSpace(text[bound - 1]) { bound -= 1 }
        guard bound > start else { throw JSONError(pointer: "", offset: start, message: "an element is missing") }
        let isLast = text[position] == ASCII.closeBracket
        position += 1
        if isLast { try end() }
        return start..<bound
    }

    /// Moves to the comma or bracket after an element.
    private mutating func skipElement() throws(JSONError) {
        var depth = 0
        var isInString = false
        while position < text.count {
            switch text[position] {
            case ASCII.quote: isInString.toggle()
            case ASCII.backslash where isInString: position += 1
            case _ where isInString: break
            case ASCII.openBracket, ASCII.openBrace: depth += 1
            case ASCII.comma where depth == 0, ASCII.closeBracket where depth == 0: return
            case ASCII.closeBracket, ASCII.closeBrace: depth -= 1
            default: break
            }
            position += 1
        }
        throw JSONError(pointer: "", offset: text.count, message: "the array has no end")
    }

    private mutating func end() throws(JSONError) {
        isOver = true
        skipSpace()
        guard position == text.count else {
            throw JSONError(pointer: "", offset: position, message: "something follows the array")
        }
    }

    private mutating func skipSpace() {
        while position < text.count, ASCII.isSpace(text[position]) { position += 1 }
    }
}
