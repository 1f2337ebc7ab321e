internal import Platform

/// The thread that copies the WAL into the database while the log grows, so that the writer seldom has to.
///
/// It runs passive checkpoints: they wait for no other connection, and no other connection waits for them.
final class Checkpointer: Sendable {
    private struct State {
        var pages = 0
        var pagesCopied = 0
        var isEnding = false
        var thread: Thread?
    }

    private let state = Guarded(State())
    private let interval: Int
    private let open: @Sendable () throws(SQLiteFailure) -> SQLiteConnection
    /// The lock that is held while a checkpoint runs: SQLite runs one at a time, and fails a second one at once.
    private let checkpointing = Lock()

    /// Starts the thread. `interval` is how many pages the WAL grows between two checkpoints; `open` opens the
    /// connection, on the thread.
    init(interval: Int, _ open: @escaping @Sendable () throws(SQLiteFailure) -> SQLiteConnection) {
        self.interval = interval
        self.open = open
        state.withLock { $0.thread = Thread(name: "checkpointer") { [self] in run() } }
    }

    /// Notes that the WAL is `pages` long after a commit.
    func note(pages: Int) {
        let wakes = state.withLock { state in
            state.pages = pages
            if pages < state.pagesCopied { state.pagesCopied = 0 }
            return isDue(state)
        }
        if wakes { state.update { _ in } }
    }

    /// Runs `checkpoint` while the checkpointer runs none of its own, after the one under way.
    func alone(_ checkpoint: () throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
        checkpointing.lock()
        defer { checkpointing.unlock() }
        try checkpoint()
    }

    /// Ends the thread, after the checkpoint under way, and waits for it. To be called once.
    func end() {
        let thread = state.update { state in
            state.isEnding = true
            return state.thread.take()
        }
        thread?.join()
    }

    private func isDue(_ state: borrowing State) -> Bool { state.pages - state.pagesCopied >= interval }

    private func run() {
        var connection: SQLiteConnection?
        while true {
            let isOver = state.wait { state -> Bool? in
                guard state.isEnding || isDue(state) else { return nil }
                state.pagesCopied = state.pages
                return state.isEnding
            }
            if isOver { return }
            // A failure is not lost: the writer's own checkpoint meets it, and its append reports it. Until then
            // the WAL holds everything, and the next try is an interval away.
            do throws(SQLiteFailure) {
                if connection == nil { connection = try open() }
                try alone { () throws(SQLiteFailure) in try connection?.checkpoint(.passive) }
            } catch {
                connection = nil
            }
        }
    }
}
