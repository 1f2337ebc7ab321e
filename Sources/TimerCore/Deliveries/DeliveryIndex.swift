import Primitives

/// The places of deliveries in the order of their ids: a sorted list in chunks, so that no insertion moves more
/// than one chunk.
struct DeliveryIndex {
    private static let capacity = 512
    private var chunks: [[UInt32]] = []
    /// The number of deliveries.
    private(set) var count = 0

    /// The place of the oldest delivery; nil when there is none.
    var first: UInt32? { chunks.first?.first }

    /// Returns the position at which `id` is, or would be inserted.
    private func position(of id: Int64, _ slots: borrowing DeliverySlots) -> (chunk: Int, offset: Int) {
        let begun = chunks.countPrefix { slots[$0[0]].id <= id }
        guard begun > 0 else { return (0, 0) }
        return (begun - 1, chunks[begun - 1].countPrefix { slots[$0].id < id })
    }

    /// Returns the place of the delivery `id`; nil when it is not here.
    func find(_ id: Int64, _ slots: borrowing DeliverySlots) -> UInt32? {
        let (chunk, offset) = position(of: id, slots)
        guard chunk < chunks.count, offset < chunks[chunk].count else { return nil }
        let place = chunks[chunk][offset]
        return slots[place].id == id ? place : nil
    }

    mutating func insert(_ place: UInt32, _ slots: borrowing DeliverySlots) {
        count += 1
        let id = slots[place].id
        let isNewest = chunks.last?.last.map { slots[$0].id < id } ?? true
        if isNewest, chunks.last.map({ $0.count == Self.capacity }) ?? true {
            chunks.append([place])
            return
        }
        let (chunk, offset) = isNewest ? (chunks.count - 1, chunks[chunks.count - 1].count) : position(of: id, slots)
        chunks[chunk].insert(place, at: offset)
        guard chunks[chunk].count > Self.capacity else { return }
        let half = Array(chunks[chunk][(Self.capacity / 2)...])
        chunks[chunk].removeLast(half.count)
        chunks.insert(half, at: chunk + 1)
    }

    mutating func remove(_ id: Int64, _ slots: borrowing DeliverySlots) {
        let (chunk, offset) = position(of: id, slots)
        chunks[chunk].remove(at: offset)
        count -= 1
        if chunks[chunk].isEmpty {
            chunks.remove(at: chunk)
        } else if chunks[chunk].count < Self.capacity / 4, chunk + 1 < chunks.count,
            chunks[chunk + 1].count < Self.capacity / 2
        {
            chunks[chunk] += chunks.remove(at: chunk + 1)
        }
    }

    /// Hands the places of ids above `id` to `body`, oldest first, until it returns false.
    func walk(after id: Int64, _ slots: borrowing DeliverySlots, _ body: (UInt32) -> Bool) {
        var (chunk, offset) = position(of: id == .max ? id : id + 1, slots)
        while chunk < chunks.count {
            while offset < chunks[chunk].count {
                guard body(chunks[chunk][offset]) else { return }
                offset += 1
            }
            chunk += 1
            offset = 0
        }
    }
}
