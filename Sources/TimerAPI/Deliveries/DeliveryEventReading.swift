import TimerCore
import TimerService

/// Reads the events of deliveries from the store, a piece at a time. The deliveries were found under the lock.
///
/// Compaction may move an event before it is read: the position of an event that was not found is looked up again.
final class DeliveryEventReading {
    /// Most times an event is looked for because it was moved between the look-up under the lock and the read.
    private static let mostLooks = 4

    /// The deliveries, in the order in which they were found.
    private(set) var entries: [DeliveryEntry]
    /// Indices of the entries whose events have still to be read.
    private var unread: [Int]
    private var looks = 1

    init(_ standings: [DeliveryStanding]) {
        entries = standings.map { DeliveryEntry(standing: $0) }
        unread = Array(entries.indices)
    }

    /// The deliveries whose events are to be read next.
    var piece: [DeliveryStanding] { unread.prefix(APILimits.readAtOnce).map { entries[$0].standing } }

    /// The deliveries whose events have still to be read.
    var standings: some Sequence<DeliveryStanding> { unread.lazy.map { self.entries[$0].standing } }

    /// Whether every event was looked for.
    var isRead: Bool { unread.isEmpty }

    /// Takes the events of `piece` as they were read; nil for one that was not found.
    func take(_ events: [OwedEvent?]) {
        for (place, event) in zip(unread, events) { entries[place].event = event }
        unread.removeFirst(min(unread.count, max(1, events.count)))
    }

    /// Looks up again, under the lock of their partition, the positions of events that were not found. Deliveries that are
    /// gone are left out.
    ///
    /// - Parameter isHere: whether the delivery with this id is of the partition.
    func recheck(_ turn: borrowing Turn, _ isHere: (_ id: Int64) -> Bool = { _ in true }) {
        for index in entries.indices where isHere(entries[index].standing.id) {
            let entry = entries[index]
            if let event = entry.event {
                entries[index].hasLostTimer = turn.hasLostTimer(entry.standing.id, definition: event.definition)
            } else if looks < Self.mostLooks, let standing = turn.delivery(entry.standing.id),
                standing.body != entry.standing.body
            {
                entries[index] = DeliveryEntry(standing: standing)
            } else {
                entries[index].isGone = true
            }
        }
    }

    /// Ends a look at all entries.
    ///
    /// - Returns: whether each entry that is left has its event; if not, read again.
    func endCheck() -> Bool {
        entries.removeAll { $0.isGone }
        unread = entries.indices.filter { entries[$0].event == nil }
        looks += 1
        return unread.isEmpty
    }

    /// Drops the first entry.
    func removeFirst() { entries.removeFirst() }
}
