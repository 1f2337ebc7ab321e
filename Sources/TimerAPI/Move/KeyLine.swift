import TimerCore
import WireJSON

/// The line of an access key in an export: `{"key": {…}}`, with the hashes of its secrets where the export shows
/// secrets.
enum KeyLine {
    /// Writes a key.
    static func write(_ key: AccessKey, lastUsedAt: Int64?, showsSecrets: Bool, _ json: inout JSONWriter) {
        json.beginObject()
        json.key("key")
        json.beginObject()
        json.key("id")
        json.string(key.id.text)
        KeyJSON.writeMembers(key, &json)
        json.member("lastUsedAt", instant: lastUsedAt)
        if showsSecrets {
            json.key("secrets")
            json.beginArray()
            write(key.newest, until: nil, &json)
            if let older = key.older { write(older.digest, until: older.until, &json) }
            json.endArray()
        }
        json.endObject()
        json.endObject()
        json.newline()
    }

    private static func write(_ digest: KeyDigest, until: Int64?, _ json: inout JSONWriter) {
        json.beginObject()
        json.key("sha256")
        json.string(digest.bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] })
        if let until { json.member("until", instant: until) }
        json.endObject()
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Reads a key.
    ///
    /// - Parameter dropsSecrets: whether a key whose secrets the export does not show is left out.
    /// - Returns: the key; nil where it is left out.
    static func read(_ line: MemberReader, dropsSecrets: Bool) throws(Problem) -> AccessKey? {
        try line.allow(["key"])
        let reader = try line.object("key")
        let draft = try KeyFields(reader.document, reader.node)
            .draft(ignoring: ["id", "createdAt", "lastUsedAt", "secrets"])
        guard let id = try reader.text("id").flatMap({ KeyID($0.utf8) }) else {
            throw reader.invalid("id", "this is no key's id")
        }
        let createdAt = try reader.requiredInstant("createdAt")
        let lastUsedAt = try reader.instant("lastUsedAt")
        guard let list = reader.value("secrets") else {
            if dropsSecrets { return nil }
            throw reader.invalid(
                "secrets",
                "the export does not show the key's secrets: export with `secrets=true`, or import with "
                    + "`secrets=drop`, which leaves keys out")
        }
        let (newest, older) = try secrets(reader, list)
        var key = AccessKey(
            id: id, name: draft.name, scopes: draft.scopes, idPrefix: draft.idPrefix, createdAt: createdAt,
            expiresAt: draft.expiresAt, newest: newest)
        (key.older, key.lastUsedAt) = (older, lastUsedAt)
        return key
    }

    private static func secrets(
        _ key: MemberReader, _ list: JSONNode
    ) throws(Problem) -> (newest: KeyDigest, older: AccessKey.OlderSecret?) {
        let nodes = key.document.kind(list) == .array ? key.document.children(of: list) : []
        guard (1...2).contains(nodes.count), nodes.allSatisfy({ key.document.kind($0) == .object }) else {
            throw key.invalid("secrets", "a key has one or two secrets, the newest first")
        }
        let readers = nodes.map { MemberReader(key.document, $0) }
        try readers[0].allow(["sha256"])
        let newest = try digest(readers[0])
        guard readers.count == 2 else { return (newest, nil) }
        try readers[1].allow(["sha256", "until"])
        let older = AccessKey.OlderSecret(
            digest: try digest(readers[1]), until: try readers[1].requiredInstant("until"))
        return (newest, older)
    }

    private static func digest(_ secret: MemberReader) throws(Problem) -> KeyDigest {
        guard let text = try secret.text("sha256"), text.utf8.count == 2 * KeyDigest.count,
            text.utf8.allSatisfy({ value(of: $0) != nil })
        else { throw secret.invalid("sha256", "a SHA-256 is \(2 * KeyDigest.count) hexadecimal digits, lower-case") }
        let digits = text.utf8.compactMap(value)
        let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        guard let digest = KeyDigest(bytes) else { preconditionFailure("the digits were counted") }
        return digest
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
