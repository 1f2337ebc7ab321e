import TimerCore
import TimerLog

/// The entries of an `IdempotencyTable` by their keys, and for each principal the queue of those that may be forgotten.
///
/// The entries are in pages and the map of keys is cut into shards, so that no insertion has to move more than one of
/// these. A request under way is in no queue.
struct IdempotencyEntries {
    /// The number of an entry, from 1.
    typealias Place = UInt32

    /// The part of the entries that belongs to a principal.
    private struct Share {
        /// The access key; nil for the tokens together, and for clients that are asked for no credential.
        var principal: KeyID?
        /// The number of its entries, those of requests under way included.
        var entries = 0
        /// The number of its queued entries, and the bytes of their answers.
        var queued = 0
        var bytes = 0
        /// The ends of its queue; 0 for none.
        var oldest: Place = 0
        var newest: Place = 0
    }

    private static let shardCount: UInt64 = 256
    private static let pageSize = 1024

    private var places = [[Hash128: Place]](repeating: [:], count: Int(IdempotencyEntries.shardCount))
    private var pages: [[IdempotencyEntry]] = []
    /// The newest of the free places, each of which names the next as its `newer`; 0 for none.
    private var free: Place = 0
    private var shares: [Share] = []
    private var freeShares: [Int] = []
    private var shareNumbers: [KeyID?: Int] = [:]
    /// The shares with queued entries: by their numbers of these, by bytes, and by age of the oldest one.
    private var byCount = Ranking()
    private var byBytes = Ranking()
    private var byAge = Ranking()
    /// The number of queued entries, and the bytes of their answers.
    private(set) var queuedCount = 0
    private(set) var queuedBytes = 0
    /// The bytes of all answers.
    private(set) var bytes = 0

    /// The entry at a place. Members that queues rest on are changed by the methods below only.
    subscript(place: Place) -> IdempotencyEntry {
        _read { yield pages[Int(place - 1) / Self.pageSize][Int(place - 1) % Self.pageSize] }
        _modify { yield &pages[Int(place - 1) / Self.pageSize][Int(place - 1) % Self.pageSize] }
    }

    /// The requests that are under way, with the instants at which they began.
    var underWay: [(request: IdempotentRequest, answeredAt: Int64)] {
        pages.joined().filter(\.isUnderWay).map { entry in
            let request = IdempotentRequest(
                key: entry.key, fingerprint: entry.fingerprint, principal: shares[Int(entry.share)].principal)
            return (request, entry.answeredAt)
        }
    }

    /// The oldest of all queued entries, as far as each queue is in order; nil if there are none.
    var oldest: Place? { byAge.first.map { shares[$0].oldest } }

    /// The oldest queued entry of the principal that has most; nil if there are none.
    var oldestByCount: Place? { byCount.first.map { shares[$0].oldest } }

    /// The oldest queued entry of the principal whose answers have most bytes; nil if there are none.
    var oldestByBytes: Place? { byBytes.first.map { shares[$0].oldest } }

    private static func shard(_ key: Hash128) -> Int { Int(key.low % shardCount) }

    /// Returns the place of a key's entry; nil if there is none.
    func find(_ key: Hash128) -> Place? { places[Self.shard(key)][key] }

    /// Adds the entry of a request whose key has none. The entry is in no queue.
    mutating func add(_ request: IdempotentRequest, answeredAt: Int64) -> Place {
        var entry = IdempotencyEntry()
        entry.key = request.key
        entry.fingerprint = request.fingerprint
        entry.answeredAt = answeredAt
        let share = share(of: request.principal)
        entry.share = UInt32(share)
        shares[share].entries += 1
        let place = takePlace()
        self[place] = entry
        places[Self.shard(request.key)][request.key] = place
        return place
    }

    private mutating func takePlace() -> Place {
        if free != 0 {
            let place = free
            free = self[place].newer
            return place
        }
        if (pages.last?.count ?? Self.pageSize) == Self.pageSize { pages.append([]) }
        pages[pages.count - 1].append(IdempotencyEntry())
        return Place((pages.count - 1) * Self.pageSize + pages[pages.count - 1].count)
    }

    private mutating func share(of principal: KeyID?) -> Int {
        if let number = shareNumbers[principal] { return number }
        let number = freeShares.popLast() ?? shares.count
        if number == shares.count { shares.append(Share()) }
        shares[number] = Share(principal: principal)
        shareNumbers[principal] = number
        return number
    }

    /// Removes an entry.
    mutating func remove(_ place: Place) {
        dequeue(place)
        let entry = self[place]
        bytes -= entry.byteCount
        places[Self.shard(entry.key)][entry.key] = nil
        self[place] = IdempotencyEntry()
        self[place].newer = free
        free = place
        let share = Int(entry.share)
        shares[share].entries -= 1
        if shares[share].entries == 0 {
            shareNumbers[shares[share].principal] = nil
            freeShares.append(share)
        }
    }

    /// Sets the number of bytes of an entry's answer.
    mutating func setBytes(_ count: Int, of place: Place) {
        let before = self[place].byteCount
        self[place].byteCount = count
        let added = self[place].byteCount - before
        bytes += added
        guard self[place].isQueued, added != 0 else { return }
        queuedBytes += added
        let share = Int(self[place].share)
        shares[share].bytes += added
        rank(share)
    }

    /// Puts an entry at the end of its principal's queue, unless it is queued.
    mutating func enqueue(_ place: Place) {
        guard !self[place].isQueued else { return }
        let share = Int(self[place].share)
        let last = shares[share].newest
        self[place].isQueued = true
        self[place].older = last
        self[place].newer = 0
        if last == 0 { shares[share].oldest = place } else { self[last].newer = place }
        shares[share].newest = place
        count(place, 1)
    }

    /// Takes an entry out of its principal's queue, if it is queued.
    mutating func dequeue(_ place: Place) {
        guard self[place].isQueued else { return }
        let (older, newer) = (self[place].older, self[place].newer)
        let share = Int(self[place].share)
        self[place].isQueued = false
        if older == 0 { shares[share].oldest = newer } else { self[older].newer = newer }
        if newer == 0 { shares[share].newest = older } else { self[newer].older = older }
        count(place, -1)
    }

    /// Counts an entry that has joined its queue (1) or left it (-1).
    private mutating func count(_ place: Place, _ change: Int) {
        let (share, added) = (Int(self[place].share), change * self[place].byteCount)
        queuedCount += change
        queuedBytes += added
        shares[share].queued += change
        shares[share].bytes += added
        rank(share)
    }

    private mutating func rank(_ number: Int) {
        let share = shares[number]
        guard share.oldest != 0 else {
            byCount.remove(number)
            byBytes.remove(number)
            byAge.remove(number)
            return
        }
        // Of principals that hold as much, an access key is named before the tokens.
        let name = share.principal.map { $0.bits + 1 } ?? 0
        byCount.set(number, name: name, weight: Int64(share.queued))
        byBytes.set(number, name: name, weight: Int64(share.bytes))
        byAge.set(number, name: name, weight: -self[share.oldest].answeredAt)
    }
}
