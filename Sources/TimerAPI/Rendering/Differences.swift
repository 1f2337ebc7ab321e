import TimerCore
import WireJSON

/// The fields in which a declared timer differs from the present one.
struct Differences {
    /// The encoded definition of the timer; empty if there is none.
    let present: [UInt8]
    /// The encoded definition that the timer would have.
    let declared: [UInt8]

    /// The JSON pointers to the fields, those of the present timer first; the whole document if there is no timer.
    var pointers: [String] {
        guard let old = Definition.layout(present.span) else { return [""] }
        guard let new = Definition.layout(declared.span) else {
            preconditionFailure("a declared definition is encoded by `Definition.encode`")
        }
        let (before, after) = (Self.fields(present), Self.fields(declared))
        let values = Dictionary(before, uniquingKeysWith: { first, _ in first })
        let others = Dictionary(after, uniquingKeysWith: { first, _ in first })
        var names = before.map(\.name).filter { others[$0] != values[$0] }
        names += after.map(\.name).filter { values[$0] == nil }
        // Different secrets may be shown as the same mask.
        if old.rules.deliveries != new.rules.deliveries
            || present[old.webhook ?? 0..<0] != declared[new.webhook ?? 0..<0]
        {
            names.append("webhook")
        }
        return names.map { "/\($0)" }
    }

    /// Returns the fields that a client sets, except the webhook and those at their defaults, each with its JSON.
    private static func fields(_ definition: [UInt8]) -> [(name: String, value: [UInt8])] {
        var document = JSONDocument()
        do {
            try document.parse(MergePatch.base(definition))
        } catch {
            preconditionFailure("a timer's JSON parses: it is written here")
        }
        var fields: [(name: String, value: [UInt8])] = []
        for member in document.children(of: document.root) {
            let name = String(decoding: document.keyBytes(member), as: UTF8.self)
            if name == "webhook" || document.kind(member) == .null { continue }
            var value: [UInt8] = []
            document.appendCompact(member, to: &value)
            fields.append((name, value))
        }
        return fields
    }

    /// Writes the answer of a dry run.
    func write(_ json: inout JSONWriter) {
        json.beginObject()
        json.key("differs")
        json.beginArray()
        for pointer in pointers { json.string(pointer) }
        json.endArray()
        json.endObject()
    }
}
