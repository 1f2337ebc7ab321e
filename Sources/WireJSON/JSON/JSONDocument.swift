/// A JSON text, read strictly (RFC 8259) into one flat array of nodes.
///
/// A document is meant to be reused: ``parse(_:)`` keeps the capacity, so that a request's body costs no
/// allocation once the arrays have grown. Values are not decoded before they are asked for.
///
/// The parser refuses duplicate keys (compared unescaped), invalid UTF-8, lone surrogate escapes, control
/// characters in strings, trailing bytes, a byte order mark, containers nested over a maximum, and everything else
/// that is not JSON, such as `NaN`, `01`, or a comma too many.
///
/// A document that has parsed nothing yet, or whose last parse failed, reads as `null`.
public struct JSONDocument: Sendable {
    /// The depth to which arrays and objects may be nested by default: `[[1]]` is nested 2 deep.
    public static let maximumDepth = 32

    var bytes: [UInt8]
    var nodes: [JSONEntry]
    /// Memory in which the keys of a large object are sorted.
    private var scratch: [UInt64]
    /// Whether there is white space anywhere between the tokens.
    private(set) var isSpaced = false

    /// A document that reads as `null`.
    public init() {
        bytes = []
        nodes = []
        scratch = []
        reset()
    }

    /// The outermost value.
    public var root: JSONNode { JSONNode(entry: 0) }

    /// Reads all of `bytes`, which the document keeps (shared, not copied) until it parses again or is ``reset()``.
    /// - Throws: what is wrong, where.
    public mutating func parse(_ bytes: [UInt8]) throws(JSONError) {
        try parse(bytes, 0..<bytes.count)
    }

    /// Reads the text in `range` of `bytes`, such as one line of a batch; the array is kept as by ``parse(_:)``.
    /// - Precondition: `range` lies within the array.
    /// - Throws: what is wrong, where; the offset counts from the start of `range`.
    public mutating func parse(
        _ bytes: [UInt8], _ range: Range<Int>, maximumDepth: Int = JSONDocument.maximumDepth
    ) throws(JSONError) {
        _ = try parse(bytes, range, maximumDepth, isWhole: true)
    }

    /// Reads the value that the text in `range` begins with, such as an element of an array that is read piece by
    /// piece.
    /// - Precondition: `range` lies within the array.
    /// - Returns: the end of the value in `bytes`; what follows it was not looked at.
    /// - Throws: what is wrong, where; the offset counts from the start of `range`.
    public mutating func parse(
        firstOf bytes: [UInt8], _ range: Range<Int>, maximumDepth: Int = JSONDocument.maximumDepth
    ) throws(JSONError) -> Int {
        try parse(bytes, range, maximumDepth, isWhole: false)
    }

    @inline(__always)
    private mutating func parse(
        _ bytes: [UInt8], _ range: Range<Int>, _ maximumDepth: Int, isWhole: Bool
    ) throws(JSONError) -> Int {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "the range lies within the bytes")
        nodes.removeAll(keepingCapacity: true)
        var parser = JSONParser(range, maximumDepth: maximumDepth)
        swap(&parser.nodes, &nodes)
        swap(&parser.scratch, &scratch)
        var failure: JSONFailure?
        do {
            if isWhole { try parser.read(bytes.span) } else { try parser.readFirst(bytes.span) }
        } catch {
            failure = error
        }
        swap(&parser.nodes, &nodes)
        swap(&parser.scratch, &scratch)
        self.bytes = bytes
        isSpaced = parser.isSpaced
        guard let failure else { return parser.position }
        let pointer = parser.reading == JSONEntry.none ? "" : pointer(to: JSONNode(entry: parser.reading))
        reset()
        throw JSONError(
            pointer: pointer, offset: failure.offset - range.lowerBound,
            message: failure.reason.message(maximumDepth: maximumDepth))
    }

    /// Releases the parsed bytes, so that their owner can change them in place; the document then reads as `null`.
    ///
    /// - Parameter kept: the bytes up to which the memory of the nodes is kept for the next text.
    public mutating func reset(keeping kept: Int = .max) {
        bytes = []
        nodes.removeAll(keepingCapacity: nodes.capacity <= kept / MemoryLayout<JSONEntry>.stride)
        if scratch.capacity > kept / MemoryLayout<UInt64>.stride { scratch = [] }
        nodes.append(JSONEntry(parent: JSONEntry.none))
    }

    /// The kind of a value.
    public func kind(_ node: JSONNode) -> JSONKind { self[node].kind }

    /// The first element of an array, or the value of the first member of an object; nil where there is none.
    public func firstChild(_ node: JSONNode) -> JSONNode? {
        let child = node.entry + 1
        guard Int(child) < nodes.count, nodes[Int(child)].parent == node.entry else { return nil }
        return JSONNode(entry: child)
    }

    /// The element or member's value that follows `node` in its array or object; nil at the end.
    public func next(_ node: JSONNode) -> JSONNode? {
        let next = self[node].next
        return next == JSONEntry.none ? nil : JSONNode(entry: next)
    }

    @inline(__always)
    subscript(node: JSONNode) -> JSONEntry { nodes[Int(node.entry)] }
}

/// One value of a ``JSONDocument``: its index in the document's flat array of nodes, in reading order.
///
/// A node means something only to the document that handed it out, and only until that document parses again.
public struct JSONNode: Hashable, Sendable {
    let entry: UInt32

    /// The position among all the nodes of the document, 0 for the root.
    public var index: Int { Int(entry) }

    @inline(__always)
    init(entry: UInt32) { self.entry = entry }
}

/// The kind of a JSON value.
public enum JSONKind: UInt8, Sendable {
    case object
    case array
    case string
    case number
    case `true`
    case `false`
    case null
}

/// The document's record of a value: its ranges in the text, its parent and its next sibling. Children follow
/// their parent.
struct JSONEntry {
    /// The index that means "no such entry".
    static let none = UInt32.max

    /// The bytes of the value; a string's without its quotes.
    private(set) var start: UInt32 = 0
    var end: UInt32 = 0
    /// The bytes of a member's key without its quotes. A key never starts at 0, so 0 means "no key".
    let keyStart: UInt32
    let keyEnd: UInt32
    /// The hash of the unescaped key; equal keys have equal hashes.
    let keyHash: UInt32
    let parent: UInt32
    var next = JSONEntry.none
    private(set) var kind = JSONKind.null
    /// Whether the key, or the string, has escapes.
    let keyEscaped: Bool
    private(set) var escaped = false

    /// A value not read yet, without a key.
    @inline(__always)
    init(parent: UInt32) { self.init(parent: parent, key: 0..<0, hash: 0, escaped: false) }

    /// A member's value not read yet.
    @inline(__always)
    init(parent: UInt32, key: Range<Int>, hash: UInt32, escaped: Bool) {
        self.parent = parent
        keyStart = UInt32(truncatingIfNeeded: key.lowerBound)
        keyEnd = UInt32(truncatingIfNeeded: key.upperBound)
        keyHash = hash
        keyEscaped = escaped
    }

    /// Fills in the value that was read.
    @inline(__always)
    mutating func set(_ kind: JSONKind, _ range: Range<Int>, escaped: Bool) {
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        end = UInt32(truncatingIfNeeded: range.upperBound)
        self.kind = kind
        self.escaped = escaped
    }

    @inline(__always)
    var range: Range<Int> { Int(start)..<Int(end) }

    @inline(__always)
    var keyRange: Range<Int> { Int(keyStart)..<Int(keyEnd) }
}

// JSON pointers, RFC 6901.

extension JSONDocument {
    /// The RFC 6901 pointer of `node`, such as `/labels/a~1b` or `/items/0`; `""` for the root.
    public func pointer(to node: JSONNode) -> String {
        var path: [JSONNode] = []
        var entry = node.entry
        while self[JSONNode(entry: entry)].parent != JSONEntry.none {
            path.append(JSONNode(entry: entry))
            entry = self[JSONNode(entry: entry)].parent
        }
        var pointer: [UInt8] = []
        for step in path.reversed() {
            pointer.append(ASCII.slash)
            if self[step].keyStart != 0 {
                appendToken(keyBytes(step), to: &pointer)
            } else {
                pointer.append(contentsOf: String(elementIndex(step)).utf8)
            }
        }
        return String(decoding: pointer, as: UTF8.self)
    }

    private func appendToken(_ key: [UInt8], to pointer: inout [UInt8]) {
        for byte in key {
            switch byte {
            case UInt8(ascii: "~"): pointer.append("~0")
            case ASCII.slash: pointer.append("~1")
            default: pointer.append(byte)
            }
        }
    }

    private func elementIndex(_ node: JSONNode) -> Int {
        var index = 0
        var sibling = self[node].parent + 1
        while sibling != node.entry {
            index += 1
            sibling = nodes[Int(sibling)].next
        }
        return index
    }
}
