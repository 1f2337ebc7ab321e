internal import Platform
internal import TimerLog

/// Gives the space of deleted rows back and measures the tables, on a thread and a connection of its own. It sends
/// nothing unless rows are deleted or the size is asked for.
final class LogUpkeep: Sendable {
    /// The least and the most stored bytes whose deletion makes a vacuum due; between the two, that is a quarter of
    /// the table's size. A small table stays small, and a large one is not scanned for little.
    private static let bytesAVacuum = (4 << 20)...(64 << 20)
    /// The least time between two measurements of the size.
    private static let sizeIntervalNs: Int64 = 10_000_000_000

    private struct State {
        var deleted = 0
        var wantsSize = false
        var size = 0
        var measuredAt: Int64?
        var isStopped = false
        var thread: Thread?
        var warnings: Set<String> = []

        var wantsVacuum: Bool {
            let range = LogUpkeep.bytesAVacuum
            return deleted >= min(max(size / 4, range.lowerBound), range.upperBound)
        }
    }

    private enum Work { case vacuum, size }

    private let state = Guarded(State())
    private let link: PostgresLink
    private let interrupt = EventFD()
    private let timeouts: PostgresTimeouts
    private let warn: @Sendable (String) -> Void

    init(
        _ address: PostgresAddress, session: Int64, _ timeouts: PostgresTimeouts,
        warn: @escaping @Sendable (String) -> Void
    ) {
        let purpose = PostgresConnection.Purpose(session: session, statementTimeout: 0, interrupt: interrupt)
        link = PostgresLink(address, for: purpose, timeouts)
        self.timeouts = timeouts
        self.warn = warn
    }

    /// Returns the size that was measured last, and asks for a new measurement where that is older than
    /// `sizeIntervalNs`.
    func bytesOnDisk() -> Int {
        state.update { state in
            let isOld = state.measuredAt.map { Clocks.monotonic() - $0 > Self.sizeIntervalNs } ?? true
            if isOld, !state.wantsSize {
                state.wantsSize = true
                start(&state)
            }
            return state.size
        }
    }

    /// Keeps a size that was just measured.
    func note(size: Int) {
        state.withLock { state in
            state.size = size
            state.measuredAt = Clocks.monotonic()
        }
    }

    /// Counts bytes that were deleted.
    func note(deleted bytes: Int) {
        state.update { state in
            state.deleted += bytes
            if state.wantsVacuum { start(&state) }
        }
    }

    /// Ends the thread, and aborts the statement under way. The size stays known.
    func stop() {
        let thread = state.update { state in
            state.isStopped = true
            let thread = state.thread
            state.thread = nil
            return thread
        }
        interrupt.signal()
        thread?.join()
        link.close()
    }

    private func start(_ state: inout State) {
        guard state.thread == nil, !state.isStopped else { return }
        state.thread = Thread(name: "pg-upkeep") { [weak self] in self?.run() }
    }

    private func run() {
        while let work = state.wait({ state -> Work?? in
            if state.isStopped { return .some(nil) }
            if state.wantsSize { return .size }
            return state.wantsVacuum ? .vacuum : nil
        }) {
            do throws(PostgresFailure) {
                switch work {
                case .size: try measure()
                case .vacuum: try vacuum()
                }
            } catch {
                // A later question for the size, or later deletions, try again.
                tell("\(error.passingError(work == .size ? "measuring the log" : "vacuuming the log"))")
            }
        }
    }

    private func measure() throws(PostgresFailure) {
        defer {
            state.withLock { state in
                state.wantsSize = false
                state.measuredAt = Clocks.monotonic()
            }
        }
        let size = try link.use { connection throws(PostgresFailure) in
            try connection.run(LogStatements.size, within: timeouts.statement).integer(0, 0)
        }
        note(size: Int(size))
    }

    private func vacuum() throws(PostgresFailure) {
        state.withLock { $0.deleted = 0 }
        let result = try link.use { connection throws(PostgresFailure) in
            try connection.execute("VACUUM timerd_log", within: timeouts.vacuum)
        }
        if let warning = result.warning {
            tell("PostgreSQL does not let timerd vacuum its log, so that autovacuum alone gives space back: \(warning)")
        }
        try measure()
    }

    /// Warns the operator, once with each text and at most 16 times.
    private func tell(_ warning: String) {
        let isNew = state.withLock { state in
            !state.isStopped && state.warnings.count < 16 && state.warnings.insert(warning).inserted
        }
        if isNew { warn(warning) }
    }
}
