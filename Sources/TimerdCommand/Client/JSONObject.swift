import HTTPClient
import WireJSON

/// A JSON object from a server or a file.
struct JSONObject {
    private let document: JSONDocument
    private let node: JSONNode

    /// Reads the body of `response`.
    init(_ response: HTTPResponse) throws(Failure) {
        guard let object = JSONObject(response.body) else {
            throw Failure(.other, "the server's answer is not a JSON object: is it timerd?")
        }
        self = object
    }

    /// The levels by which a timer may be nested deeper in an answer than by itself; a list adds two.
    private static let wrappers = 4

    /// Reads `bytes`; nil unless they are a JSON object.
    init?(_ bytes: [UInt8]) {
        var document = JSONDocument()
        do throws(JSONError) {
            try document.parse(
                bytes, 0..<bytes.count, maximumDepth: JSONDocument.maximumDepth + Self.wrappers)
        } catch {
            return nil
        }
        guard document.kind(document.root) == .object else { return nil }
        self.init(document, document.root)
    }

    private init(_ document: JSONDocument, _ node: JSONNode) {
        self.document = document
        self.node = node
    }

    /// The member `name` as text: a string unescaped, null and a missing one as nil, anything else as its JSON.
    subscript(_ name: StaticString) -> String? { document.member(node, name).flatMap(text) }

    /// Returns the objects in the array that is the member `name`.
    func objects(_ name: StaticString) -> [JSONObject] {
        document.member(node, name).map(document.children)?.filter { document.kind($0) == .object }
            .map { JSONObject(document, $0) } ?? []
    }

    /// Returns the object that is the member `name`; nil for anything else.
    func object(_ name: StaticString) -> JSONObject? {
        document.member(node, name).flatMap { document.kind($0) == .object ? JSONObject(document, $0) : nil }
    }

    /// Returns the strings in the array that is the member `name`.
    func strings(_ name: StaticString) -> [String] {
        document.member(node, name).map(document.children)?.compactMap(text) ?? []
    }

    /// The members that are not null, in their order.
    var members: [(name: String, text: String)] {
        document.children(of: node).compactMap { child in
            text(child).map { (String(decoding: document.keyBytes(child), as: UTF8.self), $0) }
        }
    }

    /// The names of all members, in their order.
    var names: [String] { document.children(of: node).map { String(decoding: document.keyBytes($0), as: UTF8.self) } }

    /// Returns the JSON of the member `name` as it is written, without white space between its tokens; nil for
    /// null and a missing member.
    func json(_ name: String) -> [UInt8]? {
        guard let child = child(name), document.kind(child) != .null else { return nil }
        return document.compact(child)
    }

    /// Returns the object that is the member `name`; nil for anything else.
    func object(named name: String) -> JSONObject? {
        child(name).flatMap { document.kind($0) == .object ? JSONObject(document, $0) : nil }
    }

    private func child(_ name: String) -> JSONNode? {
        let key = Array(name.utf8)
        return document.children(of: node).first { document.keyBytes($0) == key }
    }

    private func text(_ node: JSONNode) -> String? {
        switch document.kind(node) {
        case .null: return nil
        case .string: return String(decoding: document.string(node), as: UTF8.self)
        default: return String(decoding: document.compact(node), as: UTF8.self)
        }
    }
}
