import Platform

/// Which partitions the committer has done its last for, for the threads that give them up. Any thread.
final class Retirement: Sendable {
    private struct State {
        var done: Set<Int> = []
        var isOver = false
    }

    private let state = Guarded(State())

    /// Waits until nothing more is done for the partition numbered `number`, or until the committer has ended.
    func wait(for number: Int) { state.wait { $0.done.remove(number) != nil || $0.isOver ? () : nil } }

    /// Notes that nothing more is done for it.
    func note(_ number: Int) { state.update { _ = $0.done.insert(number) } }

    /// Notes that the committer has ended.
    func end() { state.update { $0.isOver = true } }
}
