import WireJSON

/// The numbers in a part's answer, a JSON object.
struct CountReader {
    private var document = JSONDocument()

    /// Nil where `body` is no JSON object.
    init?(_ body: [UInt8]) {
        guard (try? document.parse(body)) != nil, document.kind(document.root) == .object else { return nil }
    }

    /// The number that a member is, at least 0; nil where it is none.
    func integer(_ name: StaticString, in object: StaticString? = nil) -> Int? {
        var node = document.root
        if let object {
            guard let inner = document.member(node, object), document.kind(inner) == .object else { return nil }
            node = inner
        }
        guard let value = document.member(node, name), document.kind(value) == .number,
            let number = document.integer(value), number >= 0
        else { return nil }
        return Int(number)
    }

    /// Whether a member is `true`.
    func isTrue(_ name: StaticString) -> Bool {
        document.member(document.root, name).map { document.kind($0) == .true } ?? false
    }

    /// The text that a member is; nil where it is none.
    func text(_ name: StaticString) -> [UInt8]? {
        guard let value = document.member(document.root, name), document.kind(value) == .string else { return nil }
        return document.string(value)
    }
}
