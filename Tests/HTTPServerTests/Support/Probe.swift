import HTTPServer
import Platform
import TestSupport

/// The state that a test and the handlers of its server share.
final class Probe: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var opened: Set<String> = []
        var loops: [Loop] = []
    }

    private let state = Guarded(State())

    func add(_ loop: Loop) { state.withLock { $0.loops.append(loop) } }

    var loops: [Loop] { state.withLock { $0.loops } }

    /// Counts one more of `event`.
    func note(_ event: String) { state.update { $0.counts[event, default: 0] += 1 } }

    func count(_ event: String) -> Int { state.withLock { $0.counts[event, default: 0] } }

    /// Waits until `event` was noted `count` times; false after `Patience`.
    func wait(_ event: String, count: Int = 1) -> Bool {
        state.wait(nanoseconds: Patience.nanoseconds) { $0.counts[event, default: 0] < count ? nil : true } ?? false
    }

    /// Makes the handlers send the answers that they keep back under that name.
    func open(_ gate: String) {
        let loops = state.withLock { state in
            state.opened.insert(gate)
            return state.loops
        }
        for loop in loops { loop.wake() }
    }

    func isOpen(_ gate: String) -> Bool { state.withLock { $0.opened.contains(gate) } }
}
