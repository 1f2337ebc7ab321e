internal import Platform

/// The thread that copies the WAL into the database while the log grows, so that the writer has little left to copy.
///
/// It runs passive checkpoints: they wait for no other connection, and no other connection waits for them.
final class Checkpointer: Sendable {
    private struct State {
        var pages = 0
        var isFull = false
        /// The length of the WAL when the newest checkpoint began.
        var pagesSeen = 0
        var pagesCopied = 0
        var isRunning = false
        var failedSync: SQLiteFailure?
        var isEnding = false
        var thread: Thread?
    }

    /// When the thread runs a checkpoint, in pages of the WAL.
    struct Pace {
        /// The pages by which the WAL grows between two checkpoints.
        let interval: Int
        /// The pages of a full WAL that the writer may find uncopied, and by which it grows between two checkpoints.
        let rest: Int
    }

    private let state = Guarded(State())
    private let pace: Pace
    private let open: @Sendable () throws(SQLiteFailure) -> SQLiteConnection
    /// The lock that is held while a checkpoint runs: SQLite runs one at a time, and fails a second one at once.
    private let checkpointing = Lock()

    /// Starts the thread. `open` opens the connection, on the thread.
    init(_ pace: Pace, _ open: @escaping @Sendable () throws(SQLiteFailure) -> SQLiteConnection) {
        self.pace = pace
        self.open = open
        state.withLock { $0.thread = Thread(name: "checkpointer") { [self] in run() } }
    }

    /// Notes that the WAL is `pages` long after a commit, and whether it is full: to start over as soon as may be.
    func note(pages: Int, isFull: Bool) {
        let wakes = state.withLock { state in
            (state.pages, state.isFull) = (pages, isFull)
            if pages < state.pagesSeen { (state.pagesSeen, state.pagesCopied) = (0, 0) }
            return isDue(state)
        }
        if wakes { state.update { _ in } }
    }

    /// Whether no more than the rest of the WAL is left to copy, and no checkpoint runs.
    var hasNearlyCopied: Bool {
        state.withLock { state in !state.isRunning && state.pages - state.pagesCopied <= pace.rest }
    }

    /// The failure of a sync in a checkpoint, if one has failed. The pages that were copied before it may be lost, though
    /// SQLite counts them as copied: no further checkpoint runs, and the WAL must be copied from its start.
    var failedSync: SQLiteFailure? { state.withLock { $0.failedSync } }

    /// Runs `checkpoint` while no other runs, after the one under way. Throws `failedSync` if there is one.
    func alone(_ checkpoint: () throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
        checkpointing.lock()
        defer { checkpointing.unlock() }
        if let failedSync { throw failedSync }
        do throws(SQLiteFailure) {
            try checkpoint()
        } catch {
            if error.isFailedSync { state.withLock { $0.failedSync = error } }
            throw error
        }
    }

    /// Ends the thread, after the checkpoint under way, and waits for it. To be called once.
    func end() {
        let thread = state.update { state in
            state.isEnding = true
            return state.thread.take()
        }
        thread?.join()
    }

    private func isDue(_ state: borrowing State) -> Bool {
        state.pages - state.pagesSeen >= (state.isFull ? pace.rest : pace.interval)
    }

    private func run() {
        var connection: SQLiteConnection?
        while true {
            let seen = state.wait { state -> Int? in
                guard state.isEnding || isDue(state) else { return nil }
                state.pagesSeen = state.pages
                state.isRunning = !state.isEnding
                return state.isEnding ? 0 : state.pages
            }
            guard seen > 0 else { return }
            var copied: Int?
            // A failure is not lost: the writer asks for a failed sync, and its own checkpoint meets any other. Until
            // then the WAL holds everything, and the next try is an interval away.
            do throws(SQLiteFailure) {
                try alone { () throws(SQLiteFailure) in
                    if connection == nil { connection = try open() }
                    let pages = try connection?.checkpoint(.passive)
                    // The WAL's restart syncs the database as well, while a commit waits: little must be left to write.
                    try connection?.syncDatabase()
                    copied = pages
                }
            } catch {
                connection = nil
            }
            state.withLock { state in
                state.isRunning = false
                // The WAL may have started over since.
                if state.pagesSeen == seen, let copied { state.pagesCopied = copied }
            }
        }
    }
}
