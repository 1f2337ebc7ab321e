import TimerCore
import WireJSON

/// Reads the bodies of requests about access keys. `null` means absent, but in a patch of `expiresAt`.
struct KeyFields {
    /// The rule of which scopes a key with a prefix may have.
    static let prefixRule =
        "`idPrefix` goes with `read`, `kick` and `write`: `admin` is about all timers, so such a key has no prefix"

    private let document: JSONDocument
    private let node: JSONNode

    /// Begins to read the object at `node`, or at the root.
    init(_ document: JSONDocument, _ node: JSONNode? = nil) throws(Problem) {
        self.document = document
        self.node = node ?? document.root
        guard document.kind(self.node) == .object else {
            throw Problem(.invalidRequest, "a key is a JSON object", pointer: document.pointer(to: self.node))
        }
    }

    /// Reads the body of a create.
    ///
    /// - Parameter others: members that the caller reads.
    func draft(ignoring others: Set<String> = []) throws(Problem) -> KeyDraft {
        var draft = KeyDraft(name: "", scopes: [])
        try eachMember { (name, value, field) throws(Problem) in
            switch name {
            case "name": draft.name = try value.isNull ? "" : Self.name(value)
            case "scopes": draft.scopes = try value.isNull ? [] : scopes(field, value)
            case "idPrefix": draft.idPrefix = try Self.idPrefix(value)
            case "expiresAt": draft.expiresAt = try value.instant(.invalidRequest)
            case _ where others.contains(name): break
            default: throw value.invalid("a key has no field `\(name)`", .unknownField)
            }
        }
        guard !draft.name.isEmpty else { throw missing("name", "a key needs a `name`") }
        guard !draft.scopes.isEmpty else { throw missing("scopes", "a key needs `scopes`: some of \(Self.scopeNames)") }
        guard AccessKey.mayHave(draft.scopes, idPrefix: draft.idPrefix) else {
            throw missing("idPrefix", Self.prefixRule)
        }
        return draft
    }

    /// Reads the body of a patch.
    func patch() throws(Problem) -> KeyPatch {
        var patch = KeyPatch()
        try eachMember { (name, value, _) throws(Problem) in
            switch name {
            case "name": patch.name = try Self.name(value)
            case "expiresAt": patch.expiresAt = .some(try value.instant(.invalidRequest))
            case "scopes", "idPrefix": throw value.invalid("a key's rights never change: make another key")
            default: throw value.invalid("no field `\(name)` of a key can be changed", .unknownField)
            }
        }
        return patch
    }

    /// Reads the body of a rotation, `{"overlap": D}`: for how many milliseconds the secret before stays good.
    func overlap() throws(Problem) -> Int64 {
        var overlap: Int64 = 0
        try eachMember { (name, value, _) throws(Problem) in
            guard name == "overlap" else { throw value.invalid("a rotation has no field `\(name)`", .unknownField) }
            overlap = try value.duration(.invalidRequest) ?? 0
        }
        return overlap
    }

    private func eachMember(_ read: (String, FieldReader, JSONNode) throws(Problem) -> Void) throws(Problem) {
        var member = document.firstChild(node)
        while let field = member {
            try read(String(decoding: document.keyBytes(field), as: UTF8.self), FieldReader(document, field), field)
            member = document.next(field)
        }
    }

    private func missing(_ name: StaticString, _ detail: String) -> Problem {
        Problem(.invalidRequest, detail, pointer: "\(document.pointer(to: node))/\(name)")
    }

    private static func name(_ value: FieldReader) throws(Problem) -> String {
        guard let text = try value.string(), AccessKey.nameBytes.contains(text.utf8.count) else {
            throw value.invalid("a key's name has 1 to \(AccessKey.nameBytes.upperBound) bytes")
        }
        return text
    }

    private static func idPrefix(_ value: FieldReader) throws(Problem) -> [UInt8] {
        guard let text = try value.text() else { return [] }
        guard !text.isEmpty, TimerID.isPrefix(text) else {
            throw value.invalid("no id begins so: a prefix is 1 to \(TimerID.maximumLength) of A-Z a-z 0-9 . _ ~ -")
        }
        return text
    }

    private func scopes(_ field: JSONNode, _ value: FieldReader) throws(Problem) -> KeyScopes {
        guard document.kind(field) == .array, document.firstChild(field) != nil else {
            throw value.invalid("scopes are a list of at least one of \(Self.scopeNames)")
        }
        var scopes: KeyScopes = []
        for node in document.children(of: field) {
            let reader = FieldReader(document, node)
            guard let scope = try reader.choice(KeyScopes.named.map { (name: $0.name, $0.scope) }) else {
                throw reader.invalid("this must be one of \(Self.scopeNames)")
            }
            guard !scopes.contains(scope) else { throw reader.invalid("this scope is given twice") }
            scopes.formUnion(scope)
        }
        return scopes
    }

    private static var scopeNames: String { KeyScopes.named.map { "`\($0.name)`" }.joined(separator: ", ") }
}
