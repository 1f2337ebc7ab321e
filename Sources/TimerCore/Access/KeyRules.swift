/// A key that a client asks for.
public struct KeyDraft: Sendable, Equatable {
    /// See `AccessKey`.
    public var name: String
    /// See `AccessKey`.
    public var scopes: KeyScopes
    /// See `AccessKey`.
    public var idPrefix: [UInt8]
    /// See `AccessKey`.
    public var expiresAt: Int64?

    /// Makes a draft; see the members.
    public init(name: String, scopes: KeyScopes, idPrefix: [UInt8] = [], expiresAt: Int64? = nil) {
        self.name = name
        self.scopes = scopes
        self.idPrefix = idPrefix
        self.expiresAt = expiresAt
    }
}

/// A change of a key; nil leaves a member as it is.
public struct KeyPatch: Sendable, Equatable {
    /// See `AccessKey`.
    public var name: String?
    /// See `AccessKey`; the inner nil is for never.
    public var expiresAt: Int64??

    /// Makes a patch; see the members.
    public init(name: String? = nil, expiresAt: Int64?? = nil) {
        self.name = name
        self.expiresAt = expiresAt
    }
}

/// The principal that makes or changes a key, as the key's record names it.
public enum KeyGrantor: Sendable, Equatable {
    /// A client that is not asked for a credential, or the server itself.
    case nobody
    /// A client with a token of the token file.
    case token
    /// A client with this key.
    case key(KeyID)

    /// The number that stands for it in the log: 0 for nobody, 1 for a token, else twice the bits of the id plus 2.
    public var code: UInt64 {
        switch self {
        case .nobody: 0
        case .token: 1
        case .key(let id): id.bits << 1 + 2
        }
    }

    /// Reads a number of the log; nil where it stands for nobody that there can be.
    public init?(code: UInt64) {
        switch code {
        case 0: self = .nobody
        case 1: self = .token
        default:
            guard code % 2 == 0, let id = KeyID(bits: (code - 2) >> 1) else { return nil }
            self = .key(id)
        }
    }
}

/// The reason for which a key is not made or changed; nothing was changed.
public enum KeyRefusal: Error, Sendable, Equatable {
    /// No key has this id.
    case notFound
    /// The key of the client that asks was revoked or has expired since its request was let in.
    case grantorIsGone
    /// The server has no token file: nobody could be asked for a key.
    case noTokens
    /// No further key may be made: the ring is full.
    case isFull
    /// A key has this id already.
    case exists
    /// The key has expired, and is not revived.
    case isExpired
    /// The key would be made with an end that has passed.
    case isPast
    /// A key with `admin` can't be for some timers only.
    case prefixWithAdmin
    /// The key ends, or would end, later than the key of the client that asks, which ends then.
    case endsLater(than: Int64)
}

/// The rules by which keys are made and changed, given all keys at a wall instant.
///
/// Each method returns the key as it is to be, and changes nothing.
public struct KeyRules {
    private let ring: KeyRing
    private let grantor: KeyGrantor
    private let now: Int64

    /// Makes the rules of one request.
    ///
    /// - Parameter now: wall milliseconds.
    public init(_ ring: KeyRing, by grantor: KeyGrantor, at now: Int64) {
        self.ring = ring
        self.grantor = grantor
        self.now = now
    }

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - id: a random one.
    ///   - digest: the hash of its first secret.
    public func create(_ draft: KeyDraft, id: KeyID, _ digest: KeyDigest) throws(KeyRefusal) -> AccessKey {
        if let end = draft.expiresAt, end <= now {
            try checkGrantor()
            throw .isPast
        }
        return try take(
            AccessKey(
                id: id, name: draft.name, scopes: draft.scopes, idPrefix: draft.idPrefix, createdAt: now,
                expiresAt: draft.expiresAt, newest: digest),
            replaces: false)
    }

    /// Takes a key over as it was on another server, where it may have expired already.
    ///
    /// - Parameter replaces: whether a key with its id, if there is one, gives way.
    public func take(_ key: AccessKey, replaces: Bool) throws(KeyRefusal) -> AccessKey {
        try checkGrantor()
        guard AccessKey.mayHave(key.scopes, idPrefix: key.idPrefix) else { throw .prefixWithAdmin }
        try checkEnd(key)
        if let before = ring[key.id] {
            guard replaces else { throw .exists }
            if before.isExpired(at: now), !key.isExpired(at: now) { throw .isExpired }
            try checkEnd(before)
        } else if ring.count >= KeyRing.most {
            throw .isFull
        }
        return key
    }

    /// Changes a key's name and end.
    public func change(_ id: KeyID, _ patch: KeyPatch) throws(KeyRefusal) -> AccessKey {
        var key = try changeable(id)
        let wasExpired = key.isExpired(at: now)
        if let name = patch.name { key.name = name }
        if let expiresAt = patch.expiresAt { key.expiresAt = expiresAt }
        if wasExpired && !key.isExpired(at: now) { throw .isExpired }
        try checkEnd(key)
        return key
    }

    /// Gives a key a new secret. Only the two newest are ever good, the older one for `overlap` milliseconds more.
    public func rotate(_ id: KeyID, _ digest: KeyDigest, overlap: Int64) throws(KeyRefusal) -> AccessKey {
        var key = try changeable(id)
        if key.isExpired(at: now) { throw .isExpired }
        key.older = overlap > 0 ? AccessKey.OlderSecret(digest: key.newest, until: now + overlap) : nil
        key.newest = digest
        return key
    }

    /// Returns the key to be removed. A key may revoke one that ends later than itself: that gives no right.
    public func revoke(_ id: KeyID) throws(KeyRefusal) -> AccessKey {
        _ = try own()
        guard let key = ring[id] else { throw .notFound }
        return key
    }

    private func changeable(_ id: KeyID) throws(KeyRefusal) -> AccessKey {
        try checkGrantor()
        guard let key = ring[id] else { throw .notFound }
        try checkEnd(key)
        return key
    }

    /// Returns the key of the client that asks; nil where it has none.
    private func own() throws(KeyRefusal) -> AccessKey? {
        guard case .key(let id) = grantor else { return nil }
        guard let key = ring[id], !key.isExpired(at: now) else { throw .grantorIsGone }
        return key
    }

    private func checkGrantor() throws(KeyRefusal) {
        if grantor == .nobody { throw .noTokens }
        _ = try own()
    }

    /// Refuses a key that ends later than that of the client that asks.
    private func checkEnd(_ key: AccessKey) throws(KeyRefusal) {
        guard let end = try own()?.expiresAt else { return }
        guard let other = key.expiresAt, other <= end else { throw .endsLater(than: end) }
    }
}
