/// One reading of a text: appends an entry for each value, parents before their children.
///
/// The parser uses a loop and parent indices instead of recursion: its state is the container being filled, and
/// `position`.
struct JSONParser {
    /// The entries that ``read(_:)`` appends. The array comes from the document and goes back to it, to keep its
    /// capacity.
    var nodes: [JSONEntry] = []
    /// Memory in which the keys of a large object are sorted; comes from the document and goes back like `nodes`.
    var scratch: [UInt64] = []
    /// The entry of the innermost value being read: the one an error belongs to.
    private(set) var reading = JSONEntry.none
    /// Whether white space was seen between tokens.
    private(set) var isSpaced = false
    /// The next byte to read, and the end of the text. Both count from the start of the array.
    var position: Int
    let end: Int
    /// The innermost open container, whether it is an object, and the last complete value in it.
    private var container = JSONEntry.none
    private var isInObject = false
    private var previous = JSONEntry.none
    private var depth = 0
    private let maximumDepth: Int

    /// A parser of the text in `range`.
    init(_ range: Range<Int>, maximumDepth: Int) {
        position = range.lowerBound
        end = range.upperBound
        self.maximumDepth = maximumDepth
    }

    /// Reads the text.
    mutating func read(_ text: Span<UInt8>) throws(JSONFailure) {
        try readFirst(text)
        let wasSpaced = isSpaced
        skipSpace(text)
        isSpaced = wasSpaced
        guard position == end else { throw failure(.trailingBytes) }
    }

    /// Reads the value that the text begins with, and leaves what follows it.
    @inline(__always)
    mutating func readFirst(_ text: Span<UInt8>) throws(JSONFailure) {
        guard end < Int(UInt32.max) else { throw failure(.tooLong) }
        if end - position >= 3, text[position] == 0xEF, text[position + 1] == 0xBB, text[position + 2] == 0xBF {
            throw failure(.byteOrderMark)
        }
        skipSpace(text)
        guard position < end else { throw failure(.empty) }
        isSpaced = false
        append(JSONEntry(parent: JSONEntry.none))
        repeat {
            while try !readValue(text) {}
        } while try readSeparator(text)
    }

    /// An error at the next byte.
    func failure(_ reason: JSONReason) -> JSONFailure { JSONFailure(offset: position, reason: reason) }

    /// Reads a scalar, an empty container, or the start of another container up to its first child's value.
    /// - Returns: whether a value is complete.
    private mutating func readValue(_ text: Span<UInt8>) throws(JSONFailure) -> Bool {
        guard position < end else { throw failure(.unexpectedEnd) }
        switch text[position] {
        case ASCII.quote:
            let string = try readString(text)
            complete(.string, string.range, escaped: string.escaped)
            return true
        case ASCII.openBrace:
            return try open(.object, text)
        case ASCII.openBracket:
            return try open(.array, text)
        case UInt8(ascii: "t"):
            complete(.true, try readWord("true", text))
        case UInt8(ascii: "f"):
            complete(.false, try readWord("false", text))
        case UInt8(ascii: "n"):
            complete(.null, try readWord("null", text))
        case ASCII.minus, ASCII.zero...ASCII.nine:
            complete(.number, try readNumber(text))
        default:
            throw failure(.expectedValue)
        }
        return true
    }

    /// Reads what follows a complete value: the ends of containers, then a comma and what leads to the next value.
    /// - Returns: false when the root is complete.
    private mutating func readSeparator(_ text: Span<UInt8>) throws(JSONFailure) -> Bool {
        while container != JSONEntry.none {
            skipSpace(text)
            guard position < end else { throw failure(.unexpectedEnd) }
            let byte = text[position]
            if byte == ASCII.comma {
                position += 1
                skipSpace(text)
                try beginChild(text)
                return true
            }
            guard byte == (isInObject ? ASCII.closeBrace : ASCII.closeBracket) else {
                throw failure(isInObject ? .expectedCommaOrBrace : .expectedCommaOrBracket)
            }
            try close(text)
        }
        return false
    }

    /// Reads the start of a container and what leads to its first child's value.
    /// - Returns: whether the container is complete, being empty.
    private mutating func open(_ kind: JSONKind, _ text: Span<UInt8>) throws(JSONFailure) -> Bool {
        guard depth < maximumDepth else { throw failure(.tooDeep) }
        depth += 1
        container = reading
        previous = JSONEntry.none
        isInObject = kind == .object
        nodes[Int(container)].set(kind, position..<position, escaped: false)
        position += 1
        skipSpace(text)
        guard position < end else { throw failure(.unexpectedEnd) }
        if text[position] == (isInObject ? ASCII.closeBrace : ASCII.closeBracket) {
            try close(text)
            return true
        }
        try beginChild(text)
        return false
    }

    /// Completes the innermost container at its closing byte.
    private mutating func close(_ text: Span<UInt8>) throws(JSONFailure) {
        if isInObject, previous != JSONEntry.none, let duplicate = duplicateKey(of: container, text) {
            reading = duplicate
            position = Int(nodes[Int(duplicate)].keyStart) - 1
            throw failure(.duplicateKey)
        }
        position += 1
        depth -= 1
        nodes[Int(container)].end = UInt32(truncatingIfNeeded: position)
        previous = container
        container = nodes[Int(container)].parent
        isInObject = container != JSONEntry.none && nodes[Int(container)].kind == .object
        reading = container
    }

    /// Appends the entry of the container's next child; in an object after reading the key and the colon.
    @inline(__always)
    private mutating func beginChild(_ text: Span<UInt8>) throws(JSONFailure) {
        guard isInObject else { return append(JSONEntry(parent: container)) }
        guard position < end else { throw failure(.unexpectedEnd) }
        guard text[position] == ASCII.quote else { throw failure(.expectedKey) }
        let key = try readString(text)
        let hash = JSONKeyHash.hash(text, key.range, escaped: key.escaped)
        append(JSONEntry(parent: container, key: key.range, hash: hash, escaped: key.escaped))
        skipSpace(text)
        guard position < end else { throw failure(.unexpectedEnd) }
        guard text[position] == ASCII.colon else { throw failure(.expectedColon) }
        position += 1
        skipSpace(text)
    }

    /// Appends the container's next child; its value is to be read next.
    @inline(__always)
    private mutating func append(_ entry: JSONEntry) {
        reading = UInt32(truncatingIfNeeded: nodes.count)
        nodes.append(entry)
        if previous != JSONEntry.none { nodes[Int(previous)].next = reading }
    }

    /// Fills in the entry being read: a scalar of `kind` in `range`.
    @inline(__always)
    private mutating func complete(_ kind: JSONKind, _ range: Range<Int>, escaped: Bool = false) {
        nodes[Int(reading)].set(kind, range, escaped: escaped)
        previous = reading
        reading = container
    }

    @inline(__always)
    private mutating func skipSpace(_ text: Span<UInt8>) {
        while position < end, ASCII.isSpace(text[position]) {
            isSpaced = true
            position += 1
        }
    }
}
