import TimerCore
import TimerLog
import Webhooks

/// The log as the dispatcher sees it: the events of its deliveries, and the outcomes that its engine has yet to
/// record. Confined to the dispatcher's thread.
final class DeliverySource {
    let log: ActiveLog
    /// The ends of attempts, and of deliveries that were too old for one, that are still to be recorded.
    var ends: [AttemptEnd] = []
    /// Deliveries, with their hosts, that came up in the queues while no attempt could begin.
    var putAside: [(id: Int64, host: String)] = []
    /// Whether the engine began no attempts when last asked: storage failed, the server was drained, or the lease
    /// was over.
    var isHeld = false
    /// The reader of the deliveries' events.
    private(set) var bodies: EventReader
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
                // The store may have been opened again.
                reader = nil
                throw error
            }
        }
    }

    init(_ log: ActiveLog) {
        self.log = log
        rows = RowSource(log)
        bodies = EventReader(rows.row)
    }

    /// Whether no attempt may begin: a delivery whose outcome can't be recorded now would be sent again, and once
    /// the log has ended no outcome can be recorded.
    var isBlocked: Bool { !ends.isEmpty || isHeld || log.hasEnded }

    /// Whether work is to be tried again after a pause.
    var isWaiting: Bool { !ends.isEmpty || isHeld }

    /// Notes how often the log was folded again. Returns whether that has changed since the last call: then every
    /// delivery that was taken over and not begun is ready again.
    func note(restarts: Int) -> Bool {
        if restarts == self.restarts { return false }
        self.restarts = restarts
        // Positions may have been given out again, to other records than those in the rows kept.
        bodies = EventReader(rows.row)
        putAside = []
        return true
    }

    /// Reads the event of the delivery `id`, whose record is at `position`: see `EventReader.event`.
    func event(_ id: Int64, at position: Int64) throws(StoreError) -> (event: LogRecord, data: [UInt8])? {
        try bodies.event(id, at: position)
    }

    /// Returns the origin to which the delivery of a deleted timer goes; empty where that can't be read now.
    func originOfDeleted(_ ready: TakenDelivery) -> String {
        guard let found = try? event(ready.id, at: ready.body),
            let webhook = try? webhookOfDeleted(will: ready.will, Array(found.data[found.event.definition]))
        else { return "" }
        return WebhookConfiguration.origin(encoded: webhook.span) ?? ""
    }

    /// Returns the webhook that a deleted timer left, encoded: as it was at the deletion, or else at the event.
    ///
    /// - Parameter definition: the timer's definition at the event.
    func webhookOfDeleted(will: Int64?, _ definition: [UInt8]) throws(StoreError) -> [UInt8]? {
        var definition = definition
        if let will {
            guard let left = try bodies.will(at: will) else {
                throw StoreError(.damaged, "the will at \(will) is not in the log")
            }
            // Two timers may share the half hash and the instant that identify their lives; only one of them has
            // left the will.
            if Definition.haveSameName(left.span, definition.span) { definition = left }
        }
        return Definition.layout(definition.span)?.webhook.map { Array(definition[$0]) }
    }
}

/// Decoded webhooks by their bytes: many timers have the same.
struct WebhookCache {
    private var webhooks: [[UInt8]: WebhookConfiguration] = [:]

    /// The most webhooks that are kept; beyond that all are dropped.
    private static let kept = 1024

    /// Returns the webhook that `bytes` encode; nil where they can't be read.
    mutating func webhook(_ bytes: [UInt8]) -> WebhookConfiguration? {
        if let known = webhooks[bytes] { return known }
        guard let read = WebhookConfiguration(bytes.span) else { return nil }
        if webhooks.count >= Self.kept { webhooks.removeAll(keepingCapacity: true) }
        webhooks[bytes] = read
        return read
    }
}
