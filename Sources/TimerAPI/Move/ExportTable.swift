import Platform
import TimerLog
import TimerService

/// Every export of one loop. Confined to the loop.
final class ExportTable {
    private var exports: [UInt64: (export: ExportStream, credential: Credential)] = [:]
    private let inbox: LoopInbox

    /// The most steps of one export in a round, so that others have their turn.
    private static let stepsPerRound = 8

    init(_ inbox: LoopInbox) { self.inbox = inbox }

    var isEmpty: Bool { exports.isEmpty }

    /// Adds an export that has begun. Its first step follows.
    func add(_ export: ExportStream, _ credential: Credential) {
        exports[export.id] = (export, credential)
        inbox.wake()
    }

    /// Gives lines that a replay thread has written to their export, if it is still under way.
    func received(_ result: Result<Replayer.ExportedDeliveries, StoreError>, forID id: UInt64) {
        exports[id]?.export.received(result)
    }

    /// Takes a few steps of each export.
    func step() {
        guard !exports.isEmpty else { return }
        var hasMore = false
        for (id, (export, _)) in exports {
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
        for (id, (export, _)) in exports where export.cutIfSilent(now: now) { exports[id] = nil }
    }

    /// Ends every export without its last line, as the server stops.
    func drain() { end { _ in true } }

    /// Ends the exports whose clients' credentials have ended, without their last lines.
    func end(where hasEnded: (Credential) -> Bool) {
        for (id, (export, credential)) in exports where hasEnded(credential) {
            export.cancel()
            exports[id] = nil
        }
    }
}
