import TimerAPI
import WireJSON

/// The fields of a timer that a client can change.
struct EditableTimer {
    private let document: JSONDocument
    private let members: [Member]

    /// A field and its value.
    private struct Member {
        let key: [UInt8]
        let node: JSONNode
    }

    /// Reads a timer as the server shows it; nil where `bytes` are no JSON object.
    init?(_ bytes: [UInt8]) {
        do throws(JSONError) {
            try self.init(parsing: bytes)
        } catch {
            return nil
        }
        guard document.kind(document.root) == .object else { return nil }
    }

    /// Reads a timer as a person has edited it.
    init(edited bytes: [UInt8]) throws(Failure) {
        do throws(JSONError) {
            try self.init(parsing: bytes)
        } catch {
            throw Failure(.usage, "not JSON: \(error)")
        }
        guard document.kind(document.root) == .object else { throw Failure(.usage, "not a JSON object") }
    }

    private init(parsing bytes: [UInt8]) throws(JSONError) {
        var document = JSONDocument()
        try document.parse(bytes)
        self.document = document
        // An id and a start never change.
        let fixed = TimerFields.readOnly.union(["id", "start"])
        members =
            document.kind(document.root) == .object
            ? document.children(of: document.root).compactMap { node in
                let key = document.keyBytes(node)
                return fixed.contains(String(decoding: key, as: UTF8.self)) ? nil : Member(key: key, node: node)
            } : []
    }

    /// The timer as indented JSON, for an editor.
    var text: [UInt8] {
        guard !members.isEmpty else { return Array("{}\n".utf8) }
        var text = Array("{\n".utf8)
        for (index, member) in members.enumerated() {
            var key = JSONWriter()
            key.string(member.key)
            text += Array("  ".utf8) + key.bytes + Array(": ".utf8)
            PrettyJSON.append(document, member.node, indent: 2, to: &text)
            text += Array(index == members.count - 1 ? "\n".utf8 : ",\n".utf8)
        }
        return text + Array("}\n".utf8)
    }

    /// Returns the merge patch (RFC 7396) that makes this timer `other`; nil where they are the same.
    ///
    /// - Throws: where no patch can: a null in a patch removes a member, so that a patch can't put a null into a
    ///   payload.
    func patch(to other: EditableTimer) throws(Failure) -> [UInt8]? {
        var writer = JSONWriter()
        writer.beginObject()
        var hasChanges = false
        for member in other.members {
            let old = members.first { $0.key == member.key }?.node
            guard old.map({ !Self.areSame(document, $0, other.document, member.node) }) ?? true else { continue }
            hasChanges = true
            writer.key(bytes: member.key)
            try Self.write((document, old), (other.document, member.node), &writer, Array("payload".utf8) == member.key)
        }
        for member in members where !other.members.contains(where: { $0.key == member.key }) {
            guard document.kind(member.node) != .null else { continue }
            hasChanges = true
            writer.key(bytes: member.key)
            writer.null()
        }
        writer.endObject()
        return hasChanges ? writer.bytes : nil
    }

    private typealias Place = (document: JSONDocument, node: JSONNode)

    private static func write(
        _ old: (document: JSONDocument, node: JSONNode?), _ new: Place, _ writer: inout JSONWriter, _ isPayload: Bool
    ) throws(Failure) {
        guard new.document.kind(new.node) == .object else { return writer.raw(new.document.compact(new.node)) }
        let olds = old.node.map { old.document.kind($0) == .object ? old.document.children(of: $0) : [] } ?? []
        let news = new.document.children(of: new.node)
        let oldKeys = olds.map(old.document.keyBytes)
        let newKeys = news.map(new.document.keyBytes)
        let before = Dictionary(zip(oldKeys, olds)) { first, _ in first }
        let left = Set(newKeys)
        writer.beginObject()
        for (key, node) in zip(newKeys, news) {
            if let before = before[key], areSame(old.document, before, new.document, node) { continue }
            guard !isPayload || new.document.kind(node) != .null else {
                throw Failure(.usage, "a patch can't put a null into a payload: PUT the timer instead")
            }
            writer.key(bytes: key)
            try write((old.document, before[key]), (new.document, node), &writer, isPayload)
        }
        for key in oldKeys where !left.contains(key) {
            writer.key(bytes: key)
            writer.null()
        }
        writer.endObject()
    }

    private static func areSame(
        _ left: JSONDocument, _ node: JSONNode, _ right: JSONDocument, _ other: JSONNode
    ) -> Bool { left.compact(node) == right.compact(other) }
}

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
