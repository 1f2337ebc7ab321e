import TimerAPI
import Webhooks
import WireJSON

/// What differs between a timer in a file and the one that the server has: the fields with their old and new values.
struct TimerDifference {
    /// A field, or a member of one.
    struct Field {
        /// `every`, `labels.team`.
        let name: String
        /// JSON; nil where it is absent.
        let old: [UInt8]?
        /// JSON; nil where it is absent, so that the default takes its place.
        let new: [UInt8]?
    }

    /// What becomes of the timer.
    enum Change: String {
        case create, change, delete

        /// What a line about it begins with.
        var sign: String {
            switch self {
            case .create: "+"
            case .change: "~"
            case .delete: "-"
            }
        }
    }

    let id: String
    let change: Change
    let fields: [Field]

    /// A timer that the server does not have, with all that the file says of it.
    init(creating timer: DeclaredTimer) {
        id = timer.id
        change = .create
        let declared = JSONObject(timer.body)
        let names = declared?.names.filter { $0 != "id" && !TimerFields.readOnly.contains($0) } ?? []
        fields = names.compactMap { name in
            declared.flatMap { Self.masked($0, name) }.map { Field(name: name, old: nil, new: $0) }
        }
    }

    /// A timer that the server has otherwise.
    ///
    /// - Parameters:
    ///   - stored: the timer as the server shows it.
    ///   - pointers: the JSON pointers of what differs, as the server names them.
    init(changing timer: DeclaredTimer, from stored: JSONObject, _ pointers: [String]) {
        id = timer.id
        change = .change
        guard let declared = JSONObject(timer.body) else {
            fields = []
            return
        }
        var names: [String] = []
        for pointer in pointers {
            let name = Self.field(of: pointer)
            if !name.isEmpty, !names.contains(name) { names.append(name) }
        }
        fields = names.flatMap { Self.fields($0, stored, declared) }
    }

    /// A timer that is not in the file any more.
    init(deleting id: String) {
        self.id = id
        change = .delete
        fields = []
    }

    /// For a person: a line for the timer, and two at most for each field.
    var text: String {
        var lines = ["\(change.sign) \(id)"]
        for field in fields {
            for (sign, value) in [("-", field.old), ("+", field.new)] {
                guard let value else { continue }
                lines.append("    \(sign) \(field.name): \(String(decoding: value, as: UTF8.self))")
            }
        }
        return lines.map(Printable.text).joined(separator: "\n")
    }

    /// As a line of JSON.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("action")
        writer.string(change.rawValue)
        writer.key("id")
        writer.string(id)
        writer.key("fields")
        writer.beginArray()
        for field in fields {
            writer.beginObject()
            writer.key("field")
            writer.string(field.name)
            writer.key("old")
            writer.raw(field.old ?? Array("null".utf8))
            writer.key("new")
            writer.raw(field.new ?? Array("null".utf8))
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [0x0a]
    }

    /// The create field that a pointer leads into; none of their names has a character that a pointer escapes.
    private static func field(of pointer: String) -> String {
        pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().first.map(String.init) ?? ""
    }

    /// The field `name`, or the members of it that differ where it is an object whose members stand for themselves.
    private static func fields(_ name: String, _ stored: JSONObject, _ declared: JSONObject) -> [Field] {
        let whole = Field(name: name, old: stored.json(name), new: masked(declared, name))
        guard ["labels", "webhook"].contains(name), let old = stored.object(named: name) else { return [whole] }
        guard let new = declared.object(named: name) else {
            guard name == "webhook", let url = whole.new, let oldURL = old.json("url"), url != oldURL else {
                return [whole]
            }
            return [Field(name: "webhook.url", old: oldURL, new: url)]
        }
        // What a webhook leaves out has its default, which the server shows: no difference that this can tell.
        let names = new.names + (name == "labels" ? old.names.filter { new.json($0) == nil } : [])
        let differing = names.filter { member in
            old.json(member) != new.json(member) && !(member == "secret" && isSameSecret(old, new))
        }
        let fields = differing.map { member in
            let value = name == "webhook" ? mask(member, new) : new.json(member)
            return Field(name: "\(name).\(member)", old: old.json(member), new: value)
        }
        return fields.isEmpty ? [whole] : fields
    }

    /// Whether the secrets of a webhook are, as far as their masks tell, those that the server has.
    private static func isSameSecret(_ stored: JSONObject, _ declared: JSONObject) -> Bool {
        func secrets(_ webhook: JSONObject) -> [String] {
            let several = webhook.strings("secret")
            return several.isEmpty ? webhook["secret"].map { [$0] } ?? [] : several
        }
        return secrets(stored) == secrets(declared).map { (try? WebhookSecret($0))?.masked ?? $0 }
    }

    /// The JSON of a field of the file, without the secrets of a webhook: what is printed may end in the log of a build.
    private static func masked(_ declared: JSONObject, _ name: String) -> [UInt8]? {
        guard name == "webhook", let webhook = declared.object(named: name) else { return declared.json(name) }
        var writer = JSONWriter()
        writer.beginObject()
        for member in webhook.names {
            writer.key(bytes: Array(member.utf8))
            writer.raw(mask(member, webhook) ?? Array("null".utf8))
        }
        writer.endObject()
        return writer.bytes
    }

    /// The JSON of a webhook's member, masked where it is a secret or may hold one.
    private static func mask(_ member: String, _ webhook: JSONObject) -> [UInt8]? {
        switch member {
        case "secret": return webhook.json(member).map { _ in Array("\"***\"".utf8) }
        case "headers":
            guard let headers = webhook.object(named: member) else { return webhook.json(member) }
            var writer = JSONWriter()
            writer.beginObject()
            for header in headers.names {
                writer.key(bytes: Array(header.utf8))
                writer.string("***")
            }
            writer.endObject()
            return writer.bytes
        default: return webhook.json(member)
        }
    }
}
