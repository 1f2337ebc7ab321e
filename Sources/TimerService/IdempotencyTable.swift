import TimerCore
import TimerLog

/// What an idempotency key says about a request.
public enum IdempotencyVerdict: Equatable, Sendable {
    /// Nothing yet: the request is under way from now on.
    case fresh
    /// The same request was answered; its answer is at this position.
    case answered(Int64)
    /// Another request had this key.
    case mismatch
    /// The first is still under way.
    case inProgress
}

/// Which requests with an idempotency key were answered, and where in the log their answer stands.
///
/// Kept for 24 hours or up to a number of keys, whichever is less. The map is cut into shards so that no insertion
/// has to move more than a shard.
struct IdempotencyTable {
    private struct Entry {
        var fingerprint: Hash128
        var answeredAt: Int64
        /// 0 while the request is under way.
        var position: Int64
        var byteCount: UInt32 = 0
    }

    static let lifetime: Int64 = 86_400_000
    private static let shardCount = 256
    private static let chunkCapacity = 4096

    private var shards = [[Hash128: Entry]](repeating: [:], count: IdempotencyTable.shardCount)
    private var order: [[Hash128]] = []
    private var orderHead = 0
    private(set) var count = 0
    /// Bytes of the answers, as they stand in the log.
    private(set) var answerBytes = 0
    private let maximum: Int

    init(maximum: Int) { self.maximum = maximum }

    /// A table of the requests under way alone: what goes on when the log is folded anew.
    func underWay() -> IdempotencyTable {
        var table = IdempotencyTable(maximum: maximum)
        table.shards = shards.map { $0.filter { $0.value.position == 0 } }
        return table
    }

    private func shard(_ key: Hash128) -> Int { Int(truncatingIfNeeded: key.low % UInt64(Self.shardCount)) }

    /// Judges a request, and notes a fresh one as under way.
    mutating func begin(_ key: Hash128, fingerprint: Hash128, at wall: Int64) -> IdempotencyVerdict {
        expire(wall)
        let shard = shard(key)
        if let entry = shards[shard][key] {
            if entry.fingerprint != fingerprint { return .mismatch }
            return entry.position == 0 ? .inProgress : .answered(entry.position)
        }
        shards[shard][key] = Entry(fingerprint: fingerprint, answeredAt: wall, position: 0)
        return .fresh
    }

    /// Frees a key whose request got no 2xx answer.
    mutating func abandon(_ key: Hash128) {
        let shard = shard(key)
        if shards[shard][key]?.position == 0 { shards[shard][key] = nil }
    }

    /// Notes where a request's answer stands.
    mutating func complete(_ place: LogFold.AnswerPlace) {
        // First, so that a key used again after its time comes to the end of the order.
        expire(place.answeredAt)
        let shard = shard(place.key)
        let old = shards[shard][place.key]
        shards[shard][place.key] = Entry(
            fingerprint: place.fingerprint, answeredAt: place.answeredAt, position: place.position,
            byteCount: UInt32(clamping: place.byteCount))
        answerBytes += place.byteCount - Int(old?.byteCount ?? 0)
        guard (old?.position ?? 0) == 0 else { return }
        count += 1
        if (order.last?.count ?? Self.chunkCapacity) >= Self.chunkCapacity {
            order.append([])
            order[order.count - 1].reserveCapacity(Self.chunkCapacity)
        }
        order[order.count - 1].append(place.key)
        expire(place.answeredAt)
    }

    /// Whether the answer at `position` is still wanted.
    func holds(_ key: Hash128, at position: Int64) -> Bool { shards[shard(key)][key]?.position == position }

    /// Forgets keys whose time is over, and the oldest above the maximum.
    private mutating func expire(_ wall: Int64) {
        while let key = order.first?[orderHead] {
            let shard = shard(key)
            let entry = shards[shard][key]
            guard count > maximum || wall - (entry?.answeredAt ?? 0) > Self.lifetime else { return }
            shards[shard][key] = nil
            answerBytes -= Int(entry?.byteCount ?? 0)
            count -= 1
            orderHead += 1
            if orderHead == order[0].count {
                order.removeFirst()
                orderHead = 0
            }
        }
    }
}
