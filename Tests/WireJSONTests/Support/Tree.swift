import WireJSON

/// A JSON value by its meaning, on which two readers of the same text have to agree.
enum Tree: Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([Tree])
    case object([String: Tree])

    /// The value of `node`, or nil if it holds a number that Foundation does not read: one that overflows or underflows
    /// Double, or a zero spelt like `0e3`.
    init?(_ document: JSONDocument, _ node: JSONNode) {
        switch document.kind(node) {
        case .null: self = .null
        case .true: self = .bool(true)
        case .false: self = .bool(false)
        case .number:
            guard let number = document.number(node) else { return nil }
            var spelling: [UInt8] = []
            document.appendCompact(node, to: &spelling)
            if number == 0, text(spelling).contains(/^0[eE][0-9]$|^[^eE]*[1-9]/) { return nil }
            self = .number(number)
        case .string: self = .string(text(document.string(node)))
        case .array:
            var elements: [Tree] = []
            var child = document.firstChild(node)
            while let element = child {
                guard let tree = Tree(document, element) else { return nil }
                elements.append(tree)
                child = document.next(element)
            }
            self = .array(elements)
        case .object:
            var members: [String: Tree] = [:]
            var child = document.firstChild(node)
            while let member = child {
                guard let tree = Tree(document, member) else { return nil }
                members[text(document.keyBytes(member))] = tree
                child = document.next(member)
            }
            self = .object(members)
        }
    }
}

extension Tree: Decodable {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            var members: [String: Tree] = [:]
            for key in container.allKeys { members[key.stringValue] = try container.decode(Tree.self, forKey: key) }
            self = .object(members)
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [Tree] = []
            while !container.isAtEnd { elements.append(try container.decode(Tree.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }
}
