/// A key: a client that has its secret may do what its scopes say.
public struct AccessKey: Sendable, Equatable {
    /// A secret that a rotation has replaced.
    public struct OlderSecret: Sendable, Equatable {
        /// The hash of its text.
        public var digest: KeyDigest
        /// Wall milliseconds at which it ends.
        public var until: Int64

        /// Describes a secret; see the members.
        public init(digest: KeyDigest, until: Int64) {
            self.digest = digest
            self.until = until
        }
    }

    /// The name of the key in paths, secrets and events; never given to another key.
    public let id: KeyID
    /// The name that people have for it: 1 to 128 bytes.
    public var name: String
    /// The rights, which never change.
    public let scopes: KeyScopes
    /// The beginning of the ids of the timers that the key is for; empty for all.
    public let idPrefix: [UInt8]
    /// Wall milliseconds at which the key was made.
    public let createdAt: Int64
    /// Wall milliseconds at which the key ends; nil for never.
    public var expiresAt: Int64?
    /// The hash of the newest secret.
    public var newest: KeyDigest
    /// The secret before the newest, while it may still be good.
    public var older: OlderSecret?
    /// Wall milliseconds of the minute in which the key was used last, as far as the log says; nil for never.
    public var lastUsedAt: Int64?
    /// The principal that has made the key, or changed it last.
    public var changedBy = KeyGrantor.nobody

    /// The bytes that a name may have.
    public static let nameBytes = 1...128

    /// Makes a key that was never used; see the members.
    public init(
        id: KeyID, name: String, scopes: KeyScopes, idPrefix: [UInt8] = [], createdAt: Int64, expiresAt: Int64? = nil,
        newest: KeyDigest
    ) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.idPrefix = idPrefix
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.newest = newest
    }

    /// Whether the key has ended at a wall instant in milliseconds.
    public func isExpired(at now: Int64) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// Whether the key is for the timer with this id.
    public func isFor(timer id: some Sequence<UInt8>) -> Bool { id.starts(with: idPrefix) }

    /// Whether there may be a key with these scopes for timers whose ids begin so. `admin` is about all timers.
    public static func mayHave(_ scopes: KeyScopes, idPrefix: [UInt8]) -> Bool {
        if scopes.isEmpty || !scopes.isSubset(of: .all) { return false }
        return idPrefix.isEmpty || !scopes.contains(.admin) && TimerID.isPrefix(idPrefix)
    }

    /// Returns when a secret ends, in wall milliseconds; nil where it is none of the key's, or has ended at `now`. The
    /// key's own end does not count. Both hashes are always compared, and in full.
    func end(of digest: KeyDigest, at now: Int64) -> Int64? {
        let isNewest = newest.matches(digest)
        let isOlder = (older?.digest ?? .none).matches(digest)
        if isNewest { return .max }
        guard isOlder, let older, now < older.until else { return nil }
        return older.until
    }
}
