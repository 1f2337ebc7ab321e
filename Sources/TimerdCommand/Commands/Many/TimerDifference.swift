import TimerAPI
import Webhooks
import WireJSON

/// The differences between a timer in a file and the one that the server has: the fields with their old and new
/// values.
struct TimerDifference {
    /// A field, or a member of one.
    struct Field {
        /// The name of the field, such as `every` or `labels.team`.
        let name: String
        /// The server's value as JSON; nil where the field is absent.
        let old: [UInt8]?
        /// The file's value as JSON; nil where the field is absent, so that its default applies.
        let new: [UInt8]?
    }

    /// The change that applying the file makes to the timer.
    enum Change: String {
        case create, change, delete

        /// The sign at the beginning of a line about the timer.
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

    /// Makes the difference of a timer that the server does not have, with all fields that the file declares.
    init(creating timer: DeclaredTimer) {
        id = timer.id
        change = .create
        let declared = JSONObject(timer.body)
        let names = declared?.names.filter { $0 != "id" && !TimerFields.readOnly.contains($0) } ?? []
        fields = names.compactMap { name in
            declared.flatMap { Self.masked($0, name) }.map { Field(name: name, old: nil, new: $0) }
        }
    }

    /// Makes the difference of a timer that the server has with other values.
    ///
    /// - Parameters:
    ///   - stored: the timer as the server shows it.
    ///   - pointers: the JSON pointers of the differences, as the server names them.
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

    /// Makes the difference of a timer that is no longer in the file.
    init(deleting id: String) {
        self.id = id
        change = .delete
        fields = []
    }

    /// The difference for a person: a line for the timer, and at most two for each field.
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

    /// The difference as a line of JSON.
    var json: [UInt8] {
        return JSONWriter.object { writer in
            writer.member("action", text: change.rawValue)
            writer.member("id", text: id)
            writer.beginArray("fields")
            for field in fields {
                writer.beginObject()
                writer.member("field", text: field.name)
                writer.key("old")
                writer.raw(field.old ?? Array("null".utf8))
                writer.key("new")
                writer.raw(field.new ?? Array("null".utf8))
                writer.endObject()
            }
            writer.endArray()
        } + [0x0a]
    }

    /// Returns the create field that a pointer leads into. No name of such a field has a character that a pointer
    /// escapes.
    private static func field(of pointer: String) -> String {
        pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().first.map(String.init) ?? ""
    }

    /// Returns the field `name`; of `labels` and `webhook` the members that differ, since each of these is a value
    /// of its own.
    private static func fields(_ name: String, _ stored: JSONObject, _ declared: JSONObject) -> [Field] {
        let whole = Field(name: name, old: stored.json(name), new: masked(declared, name))
        guard ["labels", "webhook"].contains(name), let old = stored.object(named: name) else { return [whole] }
        guard let new = declared.object(named: name) else {
            guard name == "webhook", let url = whole.new, let oldURL = old.json("url"), url != oldURL else {
                return [whole]
            }
            return [Field(name: "webhook.url", old: oldURL, new: url)]
        }
        // A member that a webhook leaves out has its default, and the server shows that: whether it differs can't
        // be seen here.
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

    /// Whether the masks of a webhook's declared secrets are those that the server shows.
    private static func isSameSecret(_ stored: JSONObject, _ declared: JSONObject) -> Bool {
        func secrets(_ webhook: JSONObject) -> [String] {
            let several = webhook.strings("secret")
            return several.isEmpty ? webhook["secret"].map { [$0] } ?? [] : several
        }
        return secrets(stored) == secrets(declared).map { (try? WebhookSecret($0))?.masked ?? $0 }
    }

    /// Returns the JSON of a field of the file, without the secrets of a webhook: the output may end up in the log
    /// of a build.
    private static func masked(_ declared: JSONObject, _ name: String) -> [UInt8]? {
        guard name == "webhook", let webhook = declared.object(named: name) else { return declared.json(name) }
        return JSONWriter.object { writer in
            for member in webhook.names {
                writer.key(bytes: Array(member.utf8))
                writer.raw(mask(member, webhook) ?? Array("null".utf8))
            }
        }
    }

    /// Returns the JSON of a webhook's member, masked where it is a secret or may hold one.
    private static func mask(_ member: String, _ webhook: JSONObject) -> [UInt8]? {
        switch member {
        case "secret": return webhook.json(member).map { _ in Array("\"***\"".utf8) }
        case "headers":
            guard let headers = webhook.object(named: member) else { return webhook.json(member) }
            return JSONWriter.object { writer in
                for header in headers.names {
                    writer.key(bytes: Array(header.utf8))
                    writer.string("***")
                }
            }
        default: return webhook.json(member)
        }
    }
}
