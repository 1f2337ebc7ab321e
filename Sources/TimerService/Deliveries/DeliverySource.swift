import TimerCore
import TimerLog
import Webhooks

/// The log as the dispatcher knows it: its deliveries' events, and what is still to be told to its engine. Confined to
/// the dispatcher's thread.
final class DeliverySource {
    let log: ActiveLog
    /// Ended attempts, and deliveries that were too old for one, whose outcomes are still to be recorded.
    var ends: [AttemptEnd] = []
    /// Deliveries that came first at their hosts while none might begin, and their hosts.
    var putAside: [(id: Int64, host: String)] = []
    /// Whether storage failed when an attempt was to begin.
    var isHeld = false
    /// Reads the events of its deliveries.
    private(set) var bodies: EventBodies
    private let rows: RowSource
    private var restarts = 0

    /// Rows by position: the newest from the hub's memory, older ones from the store.
    private final class RowSource {
        private let log: ActiveLog
        private var reader: (any LogReader)?

        init(_ log: ActiveLog) { self.log = log }

        func row(_ position: Int64) throws(StoreError) -> LogRow? {
            if let row = log.hub.row(holding: position) { return row }
            let found = try log.whileOpen { () throws(StoreError) in try read(position) }
            guard let found else { throw StoreError(.io, "the log is another process's") }
            return found
        }

        private func read(_ position: Int64) throws(StoreError) -> LogRow? {
            do throws(StoreError) {
                if reader == nil { reader = try log.store.makeReader() }
                return try reader?.row(holding: position)
            } catch {
                // The store may have been opened anew.
                reader = nil
                throw error
            }
        }
    }

    init(_ log: ActiveLog) {
        self.log = log
        rows = RowSource(log)
        bodies = EventBodies(rows.row)
    }

    /// Whether no attempt may begin: an outcome that can't be recorded now would be sent again, and of a log that has
    /// ended none can be.
    var isBlocked: Bool { !ends.isEmpty || isHeld || log.hasEnded }

    /// Whether something is to be tried again after a pause.
    var isWaiting: Bool { !ends.isEmpty || isHeld }

    /// Notes how often the log was folded anew. Returns whether it was since this was called last: then every delivery that
    /// was taken over and not begun is ready again.
    func note(restarts: Int) -> Bool {
        if restarts == self.restarts { return false }
        self.restarts = restarts
        // Positions may have been given out again.
        bodies = EventBodies(rows.row)
        putAside = []
        return true
    }

    /// As `EventBodies.event`.
    func event(_ id: Int64, at position: Int64) throws(StoreError) -> (event: LogRecord, data: [UInt8])? {
        try bodies.event(id, at: position)
    }

    /// Where the delivery of a timer that is gone leads; empty where that can't be read now.
    func originOfEvent(_ ready: DispatchedDelivery) -> String {
        guard let found = try? event(ready.id, at: ready.body),
            let webhook = try? webhookLeft(will: ready.will, Array(found.data[found.event.definition]))
        else { return "" }
        return WebhookConfiguration.origin(encoded: webhook.span) ?? ""
    }

    /// The webhook that a deleted timer left, encoded: as it stood at the deletion, or else at the event.
    ///
    /// - Parameter definition: the timer's at the event.
    func webhookLeft(will: Int64?, _ definition: [UInt8]) throws(StoreError) -> [UInt8]? {
        var definition = definition
        if let will {
            guard let left = try bodies.will(at: will) else {
                throw StoreError(.damaged, "the will at \(will) is not in the log")
            }
            // Two timers may share the numbers by which their lives are known; only one of them has left the will.
            if Definition.haveSameName(left.span, definition.span) { definition = left }
        }
        return Definition.layout(definition.span)?.webhook.map { Array(definition[$0]) }
    }
}
