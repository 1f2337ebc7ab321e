import WireJSON

/// A field of the body that `timerd create` sends. The server checks its value.
struct BodyField {
    private enum Value {
        case text(String)
        case number(Int64)
        case yes
    }

    private let name: StaticString
    private let value: Value?

    init(_ name: StaticString, _ text: String?) {
        self.name = name
        value = text.map(Value.text)
    }

    init(_ name: StaticString, _ number: Int64?) {
        self.name = name
        value = number.map(Value.number)
    }

    init(_ name: StaticString, _ flag: Bool) {
        self.name = name
        value = flag ? .yes : nil
    }

    /// Whether the command line names the field.
    var isGiven: Bool { value != nil }

    /// Writes the member, if the command line names the field.
    func write(to writer: inout JSONWriter) {
        guard let value else { return }
        writer.key(name)
        switch value {
        case .text(let text): writer.string(text)
        case .number(let number): writer.integer(number)
        case .yes: writer.bool(true)
        }
    }
}

/// Labels given on the command line.
enum LabelText {
    /// Writes the member `labels`, an object with the labels that are each given as `key=value`.
    static func write(_ labels: [String], to writer: inout JSONWriter) throws(Failure) {
        writer.beginObject("labels")
        for text in labels {
            let equals = try equals(in: text)
            writer.key(bytes: Array(text[..<equals].utf8))
            writer.string(String(text[text.index(after: equals)...]))
        }
        writer.endObject()
    }

    /// Checks that each label is given as `key=value`.
    static func check(_ labels: [String]) throws(Failure) { for text in labels { _ = try equals(in: text) } }

    private static func equals(in text: String) throws(Failure) -> String.Index {
        guard let equals = text.firstIndex(of: "=") else {
            throw Failure(.usage, "--label \(text): expected key=value")
        }
        return equals
    }
}
