import TimerCore
import TimerService

/// Reads the events of deliveries from the store, a piece at a time. The deliveries were found under the lock.
///
/// Compaction may move an event before it is read: the position of an event that was not found is looked up again.
final class DeliveryEventReading {
    /// The most times that an event is looked for because it was moved between the look-up under the
    /// lock and the read.
    private static let mostLooks = 4

    /// Whether the URLs of deleted timers' webhooks are read too.
    let needsWebhooks: Bool
    /// The deliveries, in the order in which they were found.
    private(set) var entries: [DeliveryEntry]
    /// Indices of the entries whose events have still to be read.
    private var unread: [Int]
    private var looks = 1

    init(_ details: [DeliveryDetail], needsWebhooks: Bool = false) {
        self.needsWebhooks = needsWebhooks
        entries = details.map { DeliveryEntry(detail: $0) }
        unread = Array(entries.indices)
    }

    /// The deliveries whose events are to be read next.
    var piece: [DeliveryDetail] { unread.prefix(APILimits.readAtOnce).map { entries[$0].detail } }

    /// The newest position that must be in the store for all events to be found.
    var newest: Int64 { unread.map { entries[$0].detail.body }.max() ?? 0 }

    /// Whether every event was looked for.
    var isRead: Bool { unread.isEmpty }

    /// Takes the events of `piece` as they were read; nil for one that was not found.
    func take(_ events: [OwedEvent?]) {
        for (place, event) in zip(unread, events) { entries[place].event = event }
        unread.removeFirst(min(unread.count, max(1, events.count)))
    }

    /// Looks up again, under the lock, the positions of the events that were not found. Deliveries that no longer
    /// exist are left out.
    ///
    /// - Returns: whether each entry that is left has its event; if not, the events of `piece` have to be read again.
    func recheck(_ turn: borrowing Turn) -> Bool {
        var kept: [DeliveryEntry] = []
        for entry in entries {
            if let event = entry.event {
                var entry = entry
                entry.isTimerDeleted = turn.isTimerDeleted(entry.detail.id, definition: event.definition)
                kept.append(entry)
            } else if looks < Self.mostLooks, let detail = turn.delivery(entry.detail.id),
                detail.body != entry.detail.body
            {
                unread.append(kept.count)
                kept.append(DeliveryEntry(detail: detail))
            }
        }
        entries = kept
        looks += 1
        return unread.isEmpty
    }

    /// Drops the first entry.
    func removeFirst() { entries.removeFirst() }
}

/// A delivery with its event, once that is read.
struct DeliveryEntry {
    var detail: DeliveryDetail
    var event: OwedEvent?
    /// Whether the delivery's timer is deleted.
    var isTimerDeleted = false
}

/// The result of a step of a run over deliveries.
enum DeliveryStep {
    /// There is more to do under the lock.
    case more
    /// Events have to be read from the store.
    case needsEvents(DeliveryEventReading)
    case done
}
