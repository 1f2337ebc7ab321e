/// The positions of the last events of the timers that were deleted last, by the hash of the timer's name.
struct DeletedTimers {
    /// The most deletions that are remembered.
    static let capacity = 65_536

    private static let shardCount: UInt64 = 256
    /// The positions by hash, in shards, so that no deletion has to move more than one of them.
    private var positions = [[UInt64: Int64]](repeating: [:], count: Int(DeletedTimers.shardCount))
    private var order: FIFO<(hash: UInt64, position: Int64)> = FIFO()

    /// Notes the position of a deleted timer's newest event; forgets the oldest deletion above `capacity`.
    mutating func note(_ hash: UInt64, at position: Int64) {
        positions[Self.shard(hash)][hash] = position
        order.append((hash, position))
        guard order.count > Self.capacity, let oldest = order.popFirst() else { return }
        // An id that was deleted again since has a newer position.
        let shard = Self.shard(oldest.hash)
        if positions[shard][oldest.hash] == oldest.position { positions[shard][oldest.hash] = nil }
    }

    private static func shard(_ hash: UInt64) -> Int { Int(hash % shardCount) }

    /// Returns the position of the newest event of the deleted timer whose name has `hash`; nil if none is
    /// remembered.
    func lastEvent(_ hash: UInt64) -> Int64? { positions[Self.shard(hash)][hash] }
}
