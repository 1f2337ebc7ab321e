/// Writes JSON into an array of its own, compact, putting the commas where they belong.
///
/// The caller pairs each `begin` with its `end` and each ``key(_:)`` with a value; the writer does not check.
/// Meant to be used again and again: ``reset()`` keeps the capacity.
public struct JSONWriter: Sendable {
    /// What has been written since the last ``reset()``.
    public var bytes: [UInt8] = []
    /// Whether a value is complete at this level, so that the next needs a comma before it.
    private var needsComma = false

    /// A writer that has written nothing.
    public init() {}

    /// Forgets what was written and keeps the capacity.
    public mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Starts an object.
    public mutating func beginObject() { begin(Ascii.openBrace) }

    /// Ends the innermost object.
    public mutating func endObject() { end(Ascii.closeBrace) }

    /// Starts an array.
    public mutating func beginArray() { begin(Ascii.openBracket) }

    /// Ends the innermost array.
    public mutating func endArray() { end(Ascii.closeBracket) }

    /// Writes a member's key, of printable ASCII without quotes and backslashes; its value comes next.
    public mutating func key(_ name: StaticString) {
        bytes.appendKey(name, comma: needsComma)
        needsComma = false
    }

    /// Writes a member's key from valid UTF-8, escaped where needed; its value comes next.
    public mutating func key(bytes name: [UInt8]) { key(bytes: name.span, 0..<name.count) }

    /// Writes a member's key from `range` of `name`, valid UTF-8, escaped where needed; its value comes next.
    public mutating func key(bytes name: Span<UInt8>, _ range: Range<Int>) {
        quoted(name, range)
        bytes.append(Ascii.colon)
        needsComma = false
    }

    /// Writes a string of valid UTF-8. Escapes only what JSON demands: quote, backslash, control characters.
    public mutating func string(_ text: [UInt8]) { quoted(text.span, 0..<text.count) }

    /// Writes a string from `range` of `text`, as ``string(_:)-([UInt8])``.
    public mutating func string(_ text: Span<UInt8>, _ range: Range<Int>) { quoted(text, range) }

    /// Writes a string of what `append` appends: printable ASCII without quotes and backslashes.
    public mutating func plain(_ append: (inout [UInt8]) -> Void) {
        separate()
        bytes.append(Ascii.quote)
        append(&bytes)
        bytes.append(Ascii.quote)
    }

    /// Writes a string, as ``string(_:)-([UInt8])``.
    public mutating func string(_ text: String) {
        let span = text.utf8.span
        quoted(span, 0..<span.count)
    }

    /// Writes a string of printable ASCII without quotes and backslashes.
    public mutating func string(_ text: StaticString) {
        separate()
        bytes.append(Ascii.quote)
        bytes.append(text)
        bytes.append(Ascii.quote)
    }

    /// Writes a whole number.
    public mutating func integer(_ value: Int64) {
        separate()
        bytes.appendDecimal(value)
    }

    /// Writes a number, which must be finite, so that reading it gives the same one.
    public mutating func number(_ value: Double) {
        if let whole = Int64(exactly: value) { return integer(whole) }
        separate()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) {
        separate()
        bytes.append(value ? "true" : "false")
    }

    /// Writes `null`.
    public mutating func null() {
        separate()
        bytes.append("null")
    }

    /// Writes `value`, which is a complete JSON value already, as it stands.
    public mutating func raw(_ value: [UInt8]) {
        separate()
        bytes.append(copying: value.span)
    }

    /// Writes the complete JSON value in `range` of `text` as it stands.
    public mutating func raw(_ text: Span<UInt8>, _ range: Range<Int>) {
        separate()
        bytes.append(copying: text.extracting(range))
    }

    /// Writes the RFC 3339 instant of `milliseconds` since 1970 as a string.
    public mutating func instant(_ milliseconds: Int64) {
        separate()
        bytes.append(Ascii.quote)
        RFC3339.append(milliseconds, to: &bytes)
        bytes.append(Ascii.quote)
    }

    /// Writes the duration of `milliseconds` as a string in its compact form.
    public mutating func duration(_ milliseconds: Int64) {
        separate()
        bytes.append(Ascii.quote)
        DurationText.append(milliseconds, to: &bytes)
        bytes.append(Ascii.quote)
    }

    /// Ends a line between top-level values, for NDJSON.
    public mutating func newline() {
        bytes.append(Ascii.newline)
        needsComma = false
    }

    /// Writes the comma before a value that needs one; the value is complete when its caller returns.
    @inline(__always)
    private mutating func separate() {
        if needsComma { bytes.append(Ascii.comma) }
        needsComma = true
    }

    @inline(__always)
    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    @inline(__always)
    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    @inline(__always)
    private mutating func quoted(_ text: Span<UInt8>, _ range: Range<Int>) {
        separate()
        bytes.append(Ascii.quote)
        JSONEscape.appendEscaped(text, range, to: &bytes)
        bytes.append(Ascii.quote)
    }
}
