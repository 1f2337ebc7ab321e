import WireJSON

/// JSON for an editor, indented by two spaces. Numbers and strings keep their spelling.
enum PrettyJSON {
    /// Appends a value that begins on a line indented by `indent` spaces.
    static func append(_ document: JSONDocument, _ node: JSONNode, indent: Int, to text: inout [UInt8]) {
        let kind = document.kind(node)
        let children = kind == .object || kind == .array ? document.children(of: node) : []
        guard !children.isEmpty else { return document.appendCompact(node, to: &text) }
        text.append(UInt8(ascii: kind == .object ? "{" : "["))
        for (index, child) in children.enumerated() {
            text += Array((index == 0 ? "\n" : ",\n").utf8) + spaces(indent + 2)
            if kind == .object {
                var key = JSONWriter()
                key.string(document.keyBytes(child))
                text += key.bytes + Array(": ".utf8)
            }
            append(document, child, indent: indent + 2, to: &text)
        }
        text += Array("\n".utf8) + spaces(indent)
        text.append(UInt8(ascii: kind == .object ? "}" : "]"))
    }

    private static func spaces(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: " "), count: count) }
}
