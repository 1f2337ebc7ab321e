import Primitives

/// Writes JSON into memory of its own, compact, putting the commas where they belong.
///
/// The caller pairs each `begin` with its `end` and each ``key(_:)`` with a value; the writer does not check. Meant to
/// be reused: ``reset(keeping:)`` keeps the memory.
public struct JSONWriter: ~Copyable {
    private var buffer = ByteBuffer()
    /// Whether a value is complete at this level, so that the next needs a comma before it.
    private var needsComma = false

    /// A writer that has written nothing.
    public init() {}

    /// Returns an object whose members `write` writes.
    public static func object<Failure: Error>(
        _ write: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        try write(&json)
        json.endObject()
        return json.bytes
    }

    /// The number of bytes written since the last ``reset(keeping:)``.
    public var count: Int { buffer.count }

    /// A copy of what has been written since the last ``reset(keeping:)``.
    public var bytes: [UInt8] {
        var copy: [UInt8] = []
        append(0..<count, to: &copy)
        return copy
    }

    /// Appends to `output` the bytes in `range` of what has been written since the last ``reset(keeping:)``.
    public func append(_ range: Range<Int>, to output: inout [UInt8]) {
        buffer.withSpan { output.append(copying: $0.extracting(range)) }
    }

    /// Forgets what was written and keeps the memory, unless it is more than `kept` bytes.
    public mutating func reset(keeping kept: Int = .max) {
        buffer.removeAll(keeping: kept)
        needsComma = false
    }

    /// Starts an object.
    public mutating func beginObject() { begin(ASCII.openBrace) }

    /// Starts an object that is the value of a member.
    public mutating func beginObject(_ name: StaticString) {
        key(name)
        beginObject()
    }

    /// Ends the innermost object.
    public mutating func endObject() { end(ASCII.closeBrace) }

    /// Starts an array.
    public mutating func beginArray() { begin(ASCII.openBracket) }

    /// Starts an array that is the value of a member.
    public mutating func beginArray(_ name: StaticString) {
        key(name)
        beginArray()
    }

    /// Ends the innermost array.
    public mutating func endArray() { end(ASCII.closeBracket) }

    /// Writes a member's key, of printable ASCII without quotes and backslashes; its value comes next.
    public mutating func key(_ name: StaticString) {
        member(name, upTo: 0) { _ in }
        needsComma = false
    }

    /// Writes a member's key from valid UTF-8, escaped where needed; its value comes next.
    public mutating func key(bytes name: [UInt8]) { key(bytes: name.span, 0..<name.count) }

    /// Writes a member's key from `range` of `name`, valid UTF-8, escaped where needed; its value comes next.
    public mutating func key(bytes name: Span<UInt8>, _ range: Range<Int>) {
        string(name, range)
        buffer.append(upTo: 1) { $0.append(ASCII.colon) }
        needsComma = false
    }

    /// Writes a member, its key and its value as ``key(_:)`` and ``string(_:)-(StaticString)`` do.
    public mutating func member(_ name: StaticString, _ value: StaticString) {
        member(name, upTo: value.utf8CodeUnitCount + 2) { $0.appendQuoted { $0.append(value) } }
    }

    /// Writes a member, its key and its value as ``key(_:)`` and ``string(_:)-(String)`` do; nil is `null`.
    public mutating func member(_ name: StaticString, text: String?) {
        guard let text else { return member(name, word: "null") }
        key(name)
        string(text)
    }

    /// Writes a member, its key and its value as ``key(_:)`` and ``string(_:)-([UInt8])`` do.
    public mutating func member(_ name: StaticString, text: [UInt8]) {
        key(name)
        string(text)
    }

    /// Writes a member with a whole number; nil is `null`.
    public mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return member(name, word: "null") }
        member(name, upTo: Decimal.longest) { $0.appendDecimal(value) }
    }

    /// Writes a member that is `true` or `false`.
    public mutating func member(_ name: StaticString, _ value: Bool) { member(name, word: value ? "true" : "false") }

    /// Writes a member with the RFC 3339 instant of `milliseconds` since 1970; nil is `null`.
    public mutating func member(_ name: StaticString, instant milliseconds: Int64?) {
        guard let milliseconds else { return member(name, word: "null") }
        member(name, upTo: RFC3339.count + 2) { $0.appendQuoted { RFC3339.append(milliseconds, to: &$0) } }
    }

    /// Writes a member with the duration of `milliseconds` in its compact form; nil is `null`.
    ///
    /// - Parameter inHours: whether hours are the largest unit, not days.
    public mutating func member(_ name: StaticString, duration milliseconds: Int64?, inHours: Bool = false) {
        guard let milliseconds else { return member(name, word: "null") }
        member(name, upTo: DurationText.longest + 2) {
            $0.appendQuoted { DurationText.append(milliseconds, inHours: inHours, to: &$0) }
        }
    }

    /// Writes a string of valid UTF-8. Escapes only what JSON demands: quote, backslash, control characters.
    public mutating func string(_ text: [UInt8]) { string(text.span, 0..<text.count) }

    /// Writes a string from `range` of `text`, as ``string(_:)-([UInt8])``.
    public mutating func string(_ text: Span<UInt8>, _ range: Range<Int>) {
        var stop = JSONEscape.next(text, range)
        write(upTo: 1 + stop - range.lowerBound) { output in
            output.append(ASCII.quote)
            output.append(copying: text.extracting(range.lowerBound..<stop))
        }
        while stop < range.upperBound {
            let escaped = stop
            stop = JSONEscape.next(text, escaped + 1..<range.upperBound)
            buffer.append(upTo: JSONEscape.longest + stop - escaped) { output in
                JSONEscape.append(text[escaped], to: &output)
                output.append(copying: text.extracting(escaped + 1..<stop))
            }
        }
        buffer.append(upTo: 1) { $0.append(ASCII.quote) }
    }

    /// Writes a string, as ``string(_:)-([UInt8])``.
    public mutating func string(_ text: String) {
        let span = text.utf8.span
        string(span, 0..<span.count)
    }

    /// Writes a string of printable ASCII without quotes and backslashes.
    public mutating func string(_ text: StaticString) {
        write(upTo: text.utf8CodeUnitCount + 2) { $0.appendQuoted { $0.append(text) } }
    }

    /// Writes a string of what `append` appends: at most `room` bytes, printable ASCII without quotes and backslashes.
    public mutating func plain(upTo room: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
        write(upTo: room + 2) { $0.appendQuoted(append) }
    }

    /// Writes a whole number.
    public mutating func integer(_ value: Int64) {
        write(upTo: Decimal.longest) { $0.appendDecimal(value) }
    }

    /// Writes a number, which must be finite, so that reading it gives the same one.
    public mutating func number(_ value: Double) {
        if let whole = Int64(exactly: value) { return integer(whole) }
        raw(Array(value.description.utf8))
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) { word(value ? "true" : "false") }

    /// Writes `null`.
    public mutating func null() { word("null") }

    /// Writes `value`, which is a complete JSON value already, unchanged.
    public mutating func raw(_ value: [UInt8]) { raw(value.span, 0..<value.count) }

    /// Writes the complete JSON value in `range` of `text`, unchanged.
    public mutating func raw(_ text: Span<UInt8>, _ range: Range<Int>) {
        write(upTo: range.count) { $0.append(copying: text.extracting(range)) }
    }

    /// Writes the RFC 3339 instant of `milliseconds` since 1970 as a string.
    public mutating func instant(_ milliseconds: Int64) {
        plain(upTo: RFC3339.count) { RFC3339.append(milliseconds, to: &$0) }
    }

    /// Ends a line between top-level values, for NDJSON.
    public mutating func newline() {
        buffer.append(upTo: 1) { $0.append(ASCII.newline) }
        needsComma = false
    }

    /// Writes `text` unchanged, between top-level values.
    public mutating func between(_ text: StaticString) {
        between(upTo: text.utf8CodeUnitCount) { $0.append(text) }
    }

    /// Writes what `append` appends, at most `room` bytes, between top-level values.
    public mutating func between(upTo room: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
        buffer.append(upTo: room, append)
    }

    private mutating func member(_ name: StaticString, word: StaticString) {
        member(name, upTo: word.utf8CodeUnitCount) { $0.append(word) }
    }

    /// Writes a member whose value is what `append` appends, at most `room` bytes.
    @inline(__always)
    private mutating func member(
        _ name: StaticString, upTo room: Int, _ append: (inout OutputSpan<UInt8>) -> Void
    ) {
        write(upTo: name.utf8CodeUnitCount + 3 + room) { output in
            output.appendQuoted { $0.append(name) }
            output.append(ASCII.colon)
            append(&output)
        }
    }

    private mutating func word(_ word: StaticString) {
        write(upTo: word.utf8CodeUnitCount) { $0.append(word) }
    }

    /// Writes a value, or a key before one, of at most `room` bytes, and the comma before it where it needs one.
    @inline(__always)
    private mutating func write(upTo room: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
        let needsComma = needsComma
        buffer.append(upTo: room + 1) { output in
            if needsComma { output.append(ASCII.comma) }
            append(&output)
        }
        self.needsComma = true
    }

    @inline(__always)
    private mutating func begin(_ bracket: UInt8) {
        write(upTo: 1) { $0.append(bracket) }
        needsComma = false
    }

    @inline(__always)
    private mutating func end(_ bracket: UInt8) {
        buffer.append(upTo: 1) { $0.append(bracket) }
        needsComma = true
    }
}

extension OutputSpan<UInt8> {
    @inline(__always)
    fileprivate mutating func appendQuoted(_ append: (inout OutputSpan<UInt8>) -> Void) {
        self.append(ASCII.quote)
        append(&self)
        self.append(ASCII.quote)
    }
}
