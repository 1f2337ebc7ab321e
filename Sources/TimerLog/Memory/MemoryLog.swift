internal import Platform

/// The rows of a log in memory. Several stores may share it, as several nodes share a database.
final class MemoryLog: Sendable {
    struct State {
        var rows: [LogRow] = []
        var head: StoreHead
        /// The session that may append; 0 where there is no directory.
        var session: Int64 = 0

        /// Begins an epoch of `session` with a row of its own after the log's end and `position`.
        mutating func beginEpoch(_ session: Int64, after position: Int64) -> Barrier {
            let first = max(head.last, position) + 1
            self.session = session
            head.epoch += 1
            let row = LogRow(
                first: first, last: first, previous: head.last, epoch: head.epoch, data: BatchRows.barrier())
            rows.append(row)
            head.last = first
            return Barrier(epoch: row.epoch, previous: row.previous, position: first)
        }
    }

    let state: Guarded<State>

    init(secret: [UInt8]) { state = Guarded(State(head: StoreHead(epoch: 0, last: 0, secret: secret))) }
}
