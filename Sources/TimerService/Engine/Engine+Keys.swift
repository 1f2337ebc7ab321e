public import Platform
public import TimerCore
import TimerLog

/// Access keys: their records, and what the loops see of them.
extension Engine {
    /// Bytes of a key's record with a name of usual length, beside the overhead of any record.
    static let keyBytes = 120

    /// Records a key as it is from here on, nil where it is revoked, and shows it to the loops at once: they need not
    /// wait for the disk, as nobody is told a secret that is not on disk.
    func record(_ key: AccessKey?, of id: KeyID, by grantor: KeyGrantor, _ now: Now) {
        _ = takePosition()
        var key = key
        key?.changedBy = grantor
        RecordCodec.append(key, of: id, by: grantor, at: now.wall, to: &batch.records.open)
        keys.set(key, for: id)
        spent += 1
    }

    /// Shows the keys as they are to the loops, unless the service stops.
    func publishKeys() { if !isStopping { access.ring.publish(keys) } }

    /// Writes a key again whose record is in a row to be deleted, if it is still as that record says: else a later
    /// record holds it.
    func carryKey(_ key: AccessKey) {
        guard keys[key.id] == key else { return }
        record(key, of: key.id, by: key.changedBy, clockNow)
    }

    /// Records when keys were used, for a few keys whose record is an hour older. Called without the lock.
    func recordKeyUses() {
        guard access.hasUses else { return }
        let keys = lock.withLock { self.keys }
        let due = access.dueUses(of: keys)
        if due.isEmpty { return }
        lock.withLock {
            record(uses: due)
            afterChanges(instant())
        }
    }

    /// Records when all keys were used, before the service stops. Called under the lock.
    func recordAllKeyUses() { record(uses: access.allUses()) }

    private func record(uses: [(id: KeyID, at: Int64)]) {
        guard takesRecords, !isFull else { return }
        for (id, at) in uses {
            guard var key = keys[id], at > key.lastUsedAt ?? .min else { continue }
            key.lastUsedAt = at
            record(key, of: id, by: key.changedBy, clockNow)
        }
    }
}

/// The access keys of the log that this process owns, for the loops that authenticate, and the uses that they note.
public final class SharedAccess: Sendable {
    /// The keys, of which each loop holds a copy; nil while this process owns no log, and so knows no keys.
    public let ring = Published<KeyRing?>(nil)
    /// The uses that are newer than what the keys say: wall milliseconds of the minute of each.
    private let uses = Guarded<[KeyID: Int64]>([:])

    /// The unit of `lastUsedAt` in milliseconds.
    static let minute: Int64 = 60_000
    /// How far the log's `lastUsedAt` may be behind, in milliseconds: a crash takes it back by so much.
    static let longestLag: Int64 = 60 * minute
    /// The most uses that are recorded in one hold of the engine's lock.
    static let usesPerStep = 64

    init() {}

    /// Notes that a key that was proved is used at a wall instant in milliseconds. May be called on any thread; a loop
    /// calls it once a minute for a key.
    public func noteUse(of id: KeyID, at now: Int64) {
        let minute = now - now % Self.minute
        uses.withLock { $0[id] = max($0[id] ?? .min, minute) }
    }

    /// Returns when a key was used last, in wall milliseconds of the minute; nil for never.
    public func lastUse(of key: AccessKey) -> Int64? {
        guard let noted = uses.withLock({ $0[key.id] }) else { return key.lastUsedAt }
        return max(noted, key.lastUsedAt ?? .min)
    }

    /// Whether there are uses.
    fileprivate var hasUses: Bool { uses.withLock { !$0.isEmpty } }

    /// Returns a few uses of which the log is so far behind that they are to be recorded. Uses that the log holds, and
    /// those of keys that are gone, are dropped.
    ///
    /// - Parameter ring: the engine's keys. The loops are not shown when a key was used: they would judge every
    ///   credential once more for it.
    fileprivate func dueUses(of ring: KeyRing) -> [(id: KeyID, at: Int64)] {
        uses.withLock { uses in
            uses = uses.filter { id, at in ring[id].map { at > $0.lastUsedAt ?? .min } ?? false }
            var due: [(id: KeyID, at: Int64)] = []
            for (id, at) in uses where due.count < Self.usesPerStep {
                guard let key = ring[id], at - (key.lastUsedAt ?? key.createdAt) >= Self.longestLag else { continue }
                due.append((id: id, at: at))
            }
            return due
        }
    }

    fileprivate func allUses() -> [(id: KeyID, at: Int64)] {
        uses.withLock { $0.map { (id: $0.key, at: $0.value) } }
    }
}
