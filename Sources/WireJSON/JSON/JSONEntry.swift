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
