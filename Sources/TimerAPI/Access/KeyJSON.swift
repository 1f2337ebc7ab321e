public import TimerCore
public import WireJSON

/// Access keys as clients see them.
public enum KeyJSON {
    /// Writes a key.
    ///
    /// - Parameters:
    ///   - lastUsedAt: wall milliseconds of the minute in which the key was used last; nil for never.
    ///   - secret: a new secret, which is shown this once; nil where there is none.
    static func write(_ key: AccessKey, lastUsedAt: Int64?, secret: KeySecret? = nil, _ json: inout JSONWriter) {
        json.beginObject()
        json.key("id")
        json.string(key.id.text)
        writeMembers(key, &json)
        json.member("lastUsedAt", instant: lastUsedAt)
        if let secret {
            json.key("secret")
            json.string(secret.text)
        }
        json.endObject()
    }

    /// Writes a client that has no key, and may do everything, in the form of a key.
    ///
    /// - Parameter name: `token`; nil for a client that is asked for no credential.
    static func writeOfEverything(name: [UInt8]?, _ json: inout JSONWriter) {
        json.beginObject()
        for member in ["id", "name"] as [StaticString] {
            json.key(member)
            if let name { json.string(name) } else { json.null() }
        }
        json.beginArray("scopes")
        for scope in KeyScopes.admin.names { json.string(scope) }
        json.endArray()
        for member in ["idPrefix", "createdAt", "expiresAt", "lastUsedAt"] as [StaticString] {
            json.key(member)
            json.null()
        }
        json.endObject()
    }

    /// Writes the members of a key that its maker chose, and when it was made.
    public static func writeMembers(_ key: AccessKey, _ json: inout JSONWriter) {
        json.key("name")
        json.string(key.name)
        json.key("scopes")
        json.beginArray()
        for scope in key.scopes.names { json.string(scope) }
        json.endArray()
        json.key("idPrefix")
        if key.idPrefix.isEmpty { json.null() } else { json.string(key.idPrefix) }
        json.member("createdAt", instant: key.createdAt)
        json.member("expiresAt", instant: key.expiresAt)
    }
}

/// A page of the list of keys, in the order in which they were made.
struct KeyPage {
    private let limit: Int
    /// The place of the key after which the page begins; nil for the first page.
    private let after: Place?

    /// The place of a key in the list, whether or not the key is still there.
    private struct Place: Comparable {
        let createdAt: Int64
        let id: KeyID

        init(_ key: AccessKey) { (createdAt, id) = (key.createdAt, key.id) }

        /// Reads a cursor: `createdAt`, a dot, the id.
        init?(_ text: [UInt8]) {
            let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 2, let createdAt = Int64(String(decoding: parts[0], as: UTF8.self)),
                let id = KeyID(parts[1])
            else { return nil }
            (self.createdAt, self.id) = (createdAt, id)
            // A number has many spellings, a cursor one.
            guard text.elementsEqual(cursor.utf8) else { return nil }
        }

        var cursor: String { "\(createdAt).\(id.text)" }

        static func < (left: Place, right: Place) -> Bool { (left.createdAt, left.id) < (right.createdAt, right.id) }
    }

    /// Reads which page a request asks for.
    init(_ target: Target) throws(Problem) {
        var query = QueryReader(target)
        let most = Int64(APILimits.listMaximum)
        limit = Int(try query.number("limit", in: 1...most, default: Int64(APILimits.listDefault)))
        after = try query.one("cursor").map { text throws(Problem) in
            guard let place = Place(text) else {
                throw QueryReader.invalid("cursor", "this is no `next` of a page of keys")
            }
            return place
        }
        try query.finish()
    }

    /// Writes the page of all keys in `ring`.
    ///
    /// - Parameter lastUse: returns when a key was used last.
    /// - Returns: the cursor of the next page; nil where there is none.
    func write(_ ring: KeyRing, lastUse: (AccessKey) -> Int64?, _ json: inout JSONWriter) -> String? {
        let rest = ring.all.drop { key in after.map { Place(key) <= $0 } ?? false }
        json.beginObject()
        json.key("keys")
        json.beginArray()
        for key in rest.prefix(limit) { KeyJSON.write(key, lastUsedAt: lastUse(key), &json) }
        json.endArray()
        let next = rest.count > limit ? rest.prefix(limit).last.map { Place($0).cursor } : nil
        json.member("next", text: next)
        json.endObject()
        return next
    }
}
