/// All access keys as they are at one moment.
///
/// Loops that authenticate hold copies, and each change makes another ring. The keys lie in shards, so that a change
/// under the engine's lock copies a 64th of them and not all ten thousand.
public struct KeyRing: Sendable, Equatable {
    private var shards = [[KeyID: AccessKey]](repeating: [:], count: shardCount)
    /// The number of keys.
    public private(set) var count = 0

    /// The most keys.
    public static let most = 10_000
    private static let shardCount = 64

    /// Makes a ring without keys.
    public init() {}

    /// The key with an id; nil where there is none.
    public subscript(id: KeyID) -> AccessKey? { shards[Self.shard(id)][id] }

    /// Sets the key with an id, or removes it.
    public mutating func set(_ key: AccessKey?, for id: KeyID) {
        let before = shards[Self.shard(id)].count
        shards[Self.shard(id)][id] = key
        count += shards[Self.shard(id)].count - before
    }

    private static func shard(_ id: KeyID) -> Int { Int(id.bits % UInt64(shardCount)) }

    /// All keys in the order in which they were made.
    public var all: [AccessKey] {
        shards.flatMap(\.values).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// The result of looking a secret up.
    public enum Verdict: Sendable, Equatable {
        /// The secret is one of the key's. Unless something changes, it is good until `until`, in wall milliseconds;
        /// `Int64.max` for ever.
        case good(AccessKey, until: Int64)
        /// The secret is one of a key that has expired.
        case expired
        /// The secret is none that is known, or one that a rotation has ended.
        case unknown
    }

    /// Judges a secret at a wall instant in milliseconds. The time taken does not depend on how much of the secret is
    /// right.
    ///
    /// - Parameters:
    ///   - id: the id in the secret's text.
    ///   - digest: the hash of the whole text.
    public func judge(_ id: KeyID, _ digest: KeyDigest, at now: Int64) -> Verdict {
        guard let key = self[id], let end = key.end(of: digest, at: now) else { return .unknown }
        if key.isExpired(at: now) { return .expired }
        return .good(key, until: min(end, key.expiresAt ?? .max))
    }
}
