import Platform
import TimerLog
import TimerService

/// Every export of one loop. Confined to the loop.
final class ExportTable {
    private var exports: [UInt64: ExportStream] = [:]
    private let inbox: LoopInbox

    /// The most steps of one export in a round, so that others have their turn.
    private static let stepsPerRound = 8

    init(_ inbox: LoopInbox) { self.inbox = inbox }

    /// Adds an export that has begun. Its first step follows.
    func add(_ export: ExportStream) {
        exports[export.id] = export
        inbox.wake()
    }

    /// Gives lines that a replay thread has written to their export, if it is still under way.
    func received(_ result: Result<Replayer.ExportedDeliveries, StoreError>, forID id: UInt64) {
        exports[id]?.received(result)
    }

    /// Takes a few steps of each export.
    func step() {
        guard !exports.isEmpty else { return }
        var hasMore = false
        for (id, export) in exports {
            var left = Self.stepsPerRound
            stepping: while true {
                switch export.step() {
                case .over:
                    exports[id] = nil
                    break stepping
                case .waits: break stepping
                case .more:
                    left -= 1
                    if left == 0 {
                        hasMore = true
                        break stepping
                    }
                }
            }
        }
        if hasMore { inbox.wake() }
    }

    /// Cuts the exports whose clients have taken nothing for long. `now` is in monotonic nanoseconds.
    func cutSilent(now: Int64) {
        for (id, export) in exports where export.cutIfSilent(now: now) { exports[id] = nil }
    }

    /// Ends every export without its last line, as the server stops.
    func drain() {
        for export in exports.values { export.cancel() }
        exports = [:]
    }
}
