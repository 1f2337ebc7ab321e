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
    /// The depth to which arrays and objects are nested; 0 for a scalar.
    public private(set) var depth = 0

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
        depth = parser.deepest
        guard let failure else { return parser.position }
        let pointer = parser.reading == JSONEntry.none ? "" : pointer(to: JSONNode(entry: parser.reading))
        reset()
        throw JSONError(
            pointer: pointer, offset: failure.offset - range.lowerBound, message: failure.reason.rawValue)
    }

    /// Releases the parsed bytes, so that their owner can change them in place; the document then reads as `null`.
    ///
    /// - Parameter kept: the bytes up to which the memory of the nodes is kept for the next text.
    public mutating func reset(keeping kept: Int = .max) {
        bytes = []
        nodes.removeAll(keepingCapacity: nodes.capacity <= kept / MemoryLayout<JSONEntry>.stride)
        if scratch.capacity > kept / MemoryLayout<UInt64>.stride { scratch = [] }
        nodes.append(JSONEntry(parent: JSONEntry.none))
        depth = 0
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
