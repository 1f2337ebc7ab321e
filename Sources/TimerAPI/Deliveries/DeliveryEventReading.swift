import TimerCore
import TimerService

/// Deliveries as they stood under the lock, and their events as they are read from the store, a piece at a time.
///
/// An event may be written anew, and its old row go, before it is read: what was looked for in vain is looked up again.
final class DeliveryEventReading {
    /// Most times an event is looked for; each time it was moved between the look under the lock and the reading.
    private static let mostLooks = 4

    /// In the order in which they were found.
    private(set) var entries: [DeliveryEntry]
    /// Places of the entries that have still to be read.
    private var unread: [Int]
    private var looks = 1

    init(_ standings: [DeliveryStanding]) {
        entries = standings.map { DeliveryEntry(standing: $0) }
        unread = Array(entries.indices)
    }

    /// Those to be read next.
    var piece: [DeliveryStanding] { unread.prefix(APILimits.readAtOnce).map { entries[$0].standing } }

    /// Position that must be in the store for all to be found.
    var newest: Int64 { unread.map { entries[$0].standing.body }.max() ?? 0 }

    /// Whether every one was looked for.
    var isRead: Bool { unread.isEmpty }

    /// Takes what the reading of `piece` gave.
    func take(_ events: [OwedEvent?]) {
        for (place, event) in zip(unread, events) { entries[place].event = event }
        unread.removeFirst(min(unread.count, max(1, events.count)))
    }

    /// Looks, under the lock, for where the events stand now that were not found; leaves out what is gone.
    ///
    /// - Returns: whether each entry that is left has its event; else read again.
    func recheck(_ turn: borrowing Turn) -> Bool {
        var kept: [DeliveryEntry] = []
        for entry in entries {
            if let event = entry.event {
                var entry = entry
                entry.hasLostTimer = turn.hasLostTimer(entry.standing.id, definition: event.definition)
                kept.append(entry)
            } else if looks < Self.mostLooks, let standing = turn.delivery(entry.standing.id),
                standing.body != entry.standing.body
            {
                unread.append(kept.count)
                kept.append(DeliveryEntry(standing: standing))
            }
        }
        entries = kept
        looks += 1
        return unread.isEmpty
    }

    /// Drops the first entry.
    func removeFirst() { entries.removeFirst() }
}
