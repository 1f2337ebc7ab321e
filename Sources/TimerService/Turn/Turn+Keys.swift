import Platform
public import TimerCore
import TimerLog
import Webhooks

/// Access keys: what requests do with them, by `KeyRules`. An answer waits for `head`, as that of any change.
extension Turn {
    /// All access keys.
    public var accessKeys: KeyRing { engine.keys }

    /// Makes a key, whose id and secret were drawn before: see `KeySecret.draw`.
    public func createKey(
        _ draft: KeyDraft, id: KeyID, _ digest: KeyDigest, by grantor: KeyGrantor
    ) throws(ServiceError) -> AccessKey {
        try checkAvailable()
        return record(
            try judge(grantor) { rules throws(KeyRefusal) in try rules.create(draft, id: id, digest) }, grantor)
    }

    /// Changes a key's name and end. A change of nothing makes no record.
    public func changeKey(_ id: KeyID, _ patch: KeyPatch, by grantor: KeyGrantor) throws(ServiceError) -> AccessKey {
        try checkAvailable()
        return record(try judge(grantor) { rules throws(KeyRefusal) in try rules.change(id, patch) }, grantor)
    }

    /// Gives a key a new secret; the one before stays good for `overlap` milliseconds.
    public func rotateKey(
        _ id: KeyID, _ digest: KeyDigest, overlap: Int64, by grantor: KeyGrantor
    ) throws(ServiceError) -> AccessKey {
        try checkAvailable()
        return record(
            try judge(grantor) { rules throws(KeyRefusal) in try rules.rotate(id, digest, overlap: overlap) }, grantor)
    }

    /// Revokes a key, also while the server is drained: a key that got into wrong hands can't wait.
    public func revokeKey(_ id: KeyID, by grantor: KeyGrantor) throws(ServiceError) {
        do throws(ServiceError) { try checkAvailable() } catch { if error != .drained { throw error } }
        let key = try judge(grantor) { rules throws(KeyRefusal) in try rules.revoke(id) }
        engine.record(nil, of: key.id, by: grantor, now)
        engine.publishKeys()
    }

    /// Takes a key over as it was on another server.
    ///
    /// - Returns: whether it was taken, now or before; false where the one that is here stays.
    public func takeKey(
        _ key: AccessKey, _ policy: ConflictPolicy, by grantor: KeyGrantor
    ) throws(ServiceError) -> Bool {
        try checkAvailable()
        guard let taken = try takenKey(key, policy, by: grantor) else { return false }
        _ = record(taken, grantor)
        return true
    }

    /// Judges what `takeKey` would do now, and does nothing. Returns the key as it would be, nil where another one
    /// stays. A key that is here as it comes, but for its use, is the same: a part of an import may come twice.
    public func takenKey(
        _ key: AccessKey, _ policy: ConflictPolicy, by grantor: KeyGrantor
    ) throws(ServiceError) -> AccessKey? {
        if let here = engine.keys[key.id] {
            var same = here
            (same.lastUsedAt, same.changedBy) = (key.lastUsedAt, key.changedBy)
            if same == key { return here }
            if policy == .skip { return nil }
        }
        return try judge(grantor) { rules throws(KeyRefusal) in try rules.take(key, replaces: policy == .replace) }
    }

    private func judge<Result>(
        _ grantor: KeyGrantor, _ body: (KeyRules) throws(KeyRefusal) -> Result
    ) throws(ServiceError) -> Result {
        do throws(KeyRefusal) { return try body(KeyRules(engine.keys, by: grantor, at: now.wall)) } catch {
            throw .keyRefused(error)
        }
    }

    private func record(_ key: AccessKey, _ grantor: KeyGrantor) -> AccessKey {
        if engine.keys[key.id] == key { return key }
        engine.record(key, of: key.id, by: grantor, now)
        engine.publishKeys()
        return engine.keys[key.id] ?? key
    }
}

extension KeySecret {
    /// Draws a secret from the system's source. Called outside of the engine's lock.
    ///
    /// - Parameter id: the id of the key; nil for that of a new one.
    public static func draw(for id: KeyID? = nil) -> KeySecret {
        let words = KernelRandom.words(1 + randomWords)
        return KeySecret(id: id ?? KeyID(random: words[0]), random: Array(words.dropFirst()))
    }

    /// The hash of the text.
    public var digest: KeyDigest { Self.digest(of: Array(text.utf8)) }

    private static func digest(of text: [UInt8]) -> KeyDigest {
        guard let digest = KeyDigest(SHA256.hash(of: text)) else { preconditionFailure("a SHA-256 has 32 bytes") }
        return digest
    }

    /// Judges the text of a bearer token by the keys of a ring, at a wall instant in milliseconds.
    public static func judge(_ text: ArraySlice<UInt8>, by ring: KeyRing, at now: Int64) -> KeyRing.Verdict {
        guard let id = id(in: text) else { return .unknown }
        return ring.judge(id, digest(of: Array(text)), at: now)
    }
}
