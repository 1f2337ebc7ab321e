internal import Platform

/// The thread that copies the WAL into the database while the log grows, so that the writer seldom has to.
///
/// It runs passive checkpoints: they wait for nobody and nobody waits for them.
final class Checkpointer: @unchecked Sendable {  // unchecked: what changes is touched only under `lock`
    private let lock = Lock()
    private let interval: Int
    private let open: @Sendable () throws(SQLiteFailure) -> SQLiteConnection
    /// Held while a checkpoint runs: SQLite lets one run at a time, and refuses the second at once.
    private let turn = Lock()
    private var pages = 0
    private var pagesCopied = 0
    private var isEnding = false
    private var thread: Thread?

    /// Starts the thread. `interval` is how many pages the WAL grows between two checkpoints; `open` opens the
    /// connection, on the thread.
    init(interval: Int, _ open: @escaping @Sendable () throws(SQLiteFailure) -> SQLiteConnection) {
        self.interval = interval
        self.open = open
        thread = Thread(name: "checkpointer") { [self] in run() }
    }

    /// Tells that the WAL is `pages` long after a commit.
    func note(pages: Int) {
        lock.withLock {
            self.pages = pages
            if pages < pagesCopied { pagesCopied = 0 }
            if isDue { lock.broadcast() }
        }
    }

    /// Runs `checkpoint` while this thread runs none, after the one under way.
    func alone(_ checkpoint: () throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
        turn.lock()
        defer { turn.unlock() }
        try checkpoint()
    }

    /// Ends the thread, after the checkpoint under way, and waits for it. Call once.
    func end() {
        lock.withLock {
            isEnding = true
            lock.broadcast()
        }
        thread?.join()
        thread = nil
    }

    private var isDue: Bool { pages - pagesCopied >= interval }

    private func run() {
        var connection: SQLiteConnection?
        while true {
            let isOver = lock.withLock {
                while !isEnding && !isDue { lock.wait() }
                pagesCopied = pages
                return isEnding
            }
            if isOver { return }
            // A failure is not lost: the writer's own checkpoint meets it, and its append tells. Until then the WAL
            // holds everything, and the next try is an interval away.
            do throws(SQLiteFailure) {
                if connection == nil { connection = try open() }
                try alone { () throws(SQLiteFailure) in try connection?.checkpoint(.passive) }
            } catch {
                connection = nil
            }
        }
    }
}
