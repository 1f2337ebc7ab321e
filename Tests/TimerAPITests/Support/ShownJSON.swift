import TestSupport
import WireJSON

/// A JSON text in which tests look values up by path.
struct ShownJSON: CustomStringConvertible {
    let description: String
    private let document: JSONDocument

    /// Nil where `text` is no JSON.
    init?(_ text: some StringProtocol) {
        var document = JSONDocument()
        do throws(JSONError) { try document.parse(Array(text.utf8)) } catch { return nil }
        self.document = document
        description = String(text)
    }

    /// The value at a path of names and indices, such as `fires/0`: a string without its quotes, another value as
    /// compact JSON. Nil where there is none.
    subscript(path: String) -> String? {
        var node = document.root
        for part in path.split(separator: "/") {
            let children = document.children(of: node)
            let found =
                document.kind(node) == .array
                ? Int(part).flatMap { children.indices.contains($0) ? children[$0] : nil }
                : children.first { document.keyBytes($0).elementsEqual(part.utf8) }
            guard let found else { return nil }
            node = found
        }
        if document.kind(node) == .string { return String(decoding: document.string(node), as: UTF8.self) }
        var text: [UInt8] = []
        document.appendCompact(node, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The names of an object's members, in their order.
    var names: [String] {
        document.children(of: document.root).map { String(decoding: document.keyBytes($0), as: UTF8.self) }
    }

    /// The elements of the array at `path`.
    func elements(_ path: String = "") -> [ShownJSON] {
        self[path].flatMap { text in ShownJSON(text) }.map { array in
            array.document.children(of: array.document.root).compactMap { node in
                var text: [UInt8] = []
                array.document.appendCompact(node, to: &text)
                return ShownJSON(String(decoding: text, as: UTF8.self))
            }
        } ?? []
    }

    /// The words of a problem: its status, its kind and the place of the error, such as `400 invalid-schedule /after`
    /// or `400 unknown-field ?colour`.
    var problem: String? {
        guard let type = self["type"], type.hasPrefix("/problems/"), let status = self["status"] else { return nil }
        var words = [status, String(type.dropFirst("/problems/".count))]
        if let pointer = self["pointer"] { words.append(pointer.isEmpty ? "the body" : pointer) }
        if let parameter = self["parameter"] { words.append("?" + parameter) }
        return words.joined(separator: " ")
    }
}

extension RawClient.Answer {
    /// A value of the answer's body, as ``ShownJSON`` finds it.
    subscript(path: String) -> String? { ShownJSON(text)?[path] }

    /// The elements of the array at `path` of the answer's body; none where there is no such array.
    func elements(_ path: String = "") -> [ShownJSON] { ShownJSON(text)?.elements(path) ?? [] }

    /// The lines of the answer's body, each of which is JSON.
    var lines: [ShownJSON] { text.split(separator: "\n").compactMap { ShownJSON($0) } }

    /// The answer's status alone where it is no problem, else the words of the problem.
    var verdict: String {
        guard status >= 400 else { return "\(status)" }
        let isProblem = header("content-type") == "application/problem+json"
        return isProblem ? ShownJSON(text)?.problem ?? "a broken problem" : "\(status)"
    }

    /// The kind of the problem that the body describes; nil where it is no whole problem of an answer to `target`.
    func problem(at target: String) -> String? {
        guard header("content-type") == "application/problem+json", let body = ShownJSON(text),
            body["status"] == "\(status)", let type = body["type"], type.hasPrefix("/problems/"), body["title"] != nil,
            let instance = body["instance"], Self.path(of: instance) == Self.path(of: target),
            let requestID = body["requestId"], requestID == header("request-id")
        else { return nil }
        return String(type.dropFirst("/problems/".count))
    }

    private static func path(of target: String) -> Substring { target.prefix { $0 != "?" } }
}
