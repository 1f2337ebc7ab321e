import Primitives

// Keys, strings, and values as they were written.

extension JSONDocument {
    /// Whether `node` is the value of a member whose unescaped key is `name`.
    public func key(_ node: JSONNode, equals name: StaticString) -> Bool {
        let entry = self[node]
        guard entry.keyStart != 0 else { return false }
        if entry.keyEscaped {
            let key = keyBytes(node)
            return key.span.equals(name, in: 0..<key.count)
        }
        return bytes.span.equals(name, in: entry.keyRange)
    }

    /// The unescaped key of the member whose value is `node`, as UTF-8; empty for a node that is no member's value.
    public func keyBytes(_ node: JSONNode) -> [UInt8] {
        var key: [UInt8] = []
        appendKey(node, to: &key)
        return key
    }

    /// Appends what ``keyBytes(_:)`` returns.
    public func appendKey(_ node: JSONNode, to output: inout [UInt8]) {
        let entry = self[node]
        appendInside(entry.keyRange, escaped: entry.keyEscaped, to: &output)
    }

    /// The value of the member `name` of `node`; nil where there is none, and for anything but an object.
    public func member(_ node: JSONNode, _ name: StaticString) -> JSONNode? {
        guard kind(node) == .object else { return nil }
        var child = firstChild(node)
        while let member = child {
            if key(member, equals: name) { return member }
            child = next(member)
        }
        return nil
    }

    /// The values of an object's members or an array's elements, in their order; none for any other kind.
    public func children(of node: JSONNode) -> [JSONNode] {
        var nodes: [JSONNode] = []
        var next = firstChild(node)
        while let child = next {
            nodes.append(child)
            next = self.next(child)
        }
        return nodes
    }

    /// The unescaped UTF-8 of a string; empty for any other kind.
    public func string(_ node: JSONNode) -> [UInt8] {
        var string: [UInt8] = []
        appendString(node, to: &string)
        return string
    }

    /// Returns an array that holds what ``string(_:)`` returns, and its place there: the document's own bytes, where the string
    /// has no escapes.
    public func stringPlace(_ node: JSONNode) -> (bytes: [UInt8], range: Range<Int>) {
        let entry = self[node]
        if entry.kind == .string, !entry.escaped { return (bytes, entry.range) }
        let string = string(node)
        return (string, 0..<string.count)
    }

    /// Appends what ``string(_:)`` returns.
    public func appendString(_ node: JSONNode, to output: inout [UInt8]) {
        let entry = self[node]
        guard entry.kind == .string else { return }
        appendInside(entry.range, escaped: entry.escaped, to: &output)
    }

    /// Whether `node` is a string that reads `text` once unescaped.
    public func string(_ node: JSONNode, equals text: StaticString) -> Bool {
        let entry = self[node]
        guard entry.kind == .string else { return false }
        if entry.escaped {
            let string = string(node)
            return string.span.equals(text, in: 0..<string.count)
        }
        return bytes.span.equals(text, in: entry.range)
    }

    /// Returns what ``appendCompact(_:to:)`` appends.
    public func compact(_ node: JSONNode) -> [UInt8] {
        var bytes: [UInt8] = []
        appendCompact(node, to: &bytes)
        return bytes
    }

    /// Returns what ``appendCompact(_:to:)`` appends: a part of the document's bytes where no white space is to be left out.
    public func compactSlice(_ node: JSONNode) -> ArraySlice<UInt8> {
        compactRange(node).map { bytes[$0] } ?? compact(node)[...]
    }

    /// Appends the bytes of a value as the text has them (number spelling, key order, escapes), without the white
    /// space between its tokens.
    public func appendCompact(_ node: JSONNode, to output: inout [UInt8]) {
        let entry = self[node]
        if let range = compactRange(node) {
            output.append(copying: bytes.span.extracting(range))
        } else if entry.kind == .null {
            output.append("null")
        } else {
            appendUnspaced(bytes.span, entry.range, to: &output)
        }
    }

    /// Returns the place of a value that is compact as it is written. Nil for any other one, and for `null`, which an empty
    /// document reads as.
    private func compactRange(_ node: JSONNode) -> Range<Int>? {
        let entry = self[node]
        switch entry.kind {
        case .object, .array: return isSpaced ? nil : entry.range
        case .string: return Int(entry.start) - 1..<Int(entry.end) + 1
        case .number, .true, .false: return entry.range
        case .null: return nil
        }
    }

    private func appendInside(_ range: Range<Int>, escaped: Bool, to output: inout [UInt8]) {
        if escaped {
            JSONEscape.appendUnescaped(bytes.span, range, to: &output)
        } else {
            output.append(copying: bytes.span.extracting(range))
        }
    }

    private func appendUnspaced(_ text: Span<UInt8>, _ range: Range<Int>, to output: inout [UInt8]) {
        var kept = range.lowerBound
        var position = kept
        var isInString = false
        while position < range.upperBound {
            let byte = text[position]
            if byte == ASCII.quote {
                isInString.toggle()
            } else if byte == ASCII.backslash {
                position += 1  // the escaped byte neither ends the string nor is white space
            } else if !isInString, ASCII.isSpace(byte) {
                output.append(copying: text.extracting(kept..<position))
                kept = position + 1
            }
            position += 1
        }
        output.append(copying: text.extracting(kept..<position))
    }
}
