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
