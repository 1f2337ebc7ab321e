import Platform

/// The losses that this process knows of, which outlast the log in which they were found: a log that another process takes
/// meanwhile may come back. May be used on any thread.
final class LossRegister: Sendable {
    private struct State {
        var newest: LostRows?
        var isAccepted = true
        var count = 0
    }

    private let state = Guarded(State())
    private let acceptsAll: Bool

    /// - Parameter acceptsAll: whether no operator has to accept a loss.
    init(acceptsAll: Bool) { self.acceptsAll = acceptsAll }

    /// The newest loss; nil where none was found.
    var newest: LostRows? { state.withLock { $0.newest } }

    /// The newest loss, where nobody has accepted it yet; else nil.
    var held: LostRows? { state.withLock { $0.isAccepted ? nil : $0.newest } }

    /// How many losses were found.
    var count: Int { state.withLock { $0.count } }

    /// Notes a loss.
    func note(_ loss: LostRows) {
        state.withLock { state in
            state.count += 1
            (state.newest, state.isAccepted) = (loss, acceptsAll)
        }
    }

    /// Notes that an operator has accepted what was lost when the log ended at `end`: see `TimerService.acceptLoss`.
    func accept(at end: Int64) {
        state.withLock { state in
            if let newest = state.newest, newest.through < end { state.isAccepted = true }
        }
    }
}
