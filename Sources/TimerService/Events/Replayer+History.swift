public import TimerLog

/// A timer's history: its events, found by following their links back, a bounded slice at a time.
extension Replayer {
    /// A timer's events, from the newest back.
    public struct History: Sendable {
        /// The number of events from one mark to the next.
        public static let stride = 256
        /// Positions of the newest event, the 256th before it, and so on, oldest first: a mark every `stride`
        /// events, so that a history costs little however long it is.
        public var marks: [Int64] = []
        /// Position of the oldest event that was found; 0 for none.
        public var oldest: Int64 = 0
        /// Whether the history goes back to the timer's creation.
        public var isWhole = false
        /// Whether events after the asker's position are gone.
        public var isExpired = false
    }

    /// The most events that one slice passes, so that other jobs come in between.
    private static let sliceEvents = 4 * History.stride

    /// Follows a timer's events back from the one at `newest` to those after `since`.
    public func history(
        newest: Int64, since: Int64, reply: @escaping @Sendable (Result<History, StoreError>) -> Void
    ) {
        readSlice(HistoryProgress(next: newest, since: since), reply)
    }

    /// The progress of following a history back.
    private struct HistoryProgress: Sendable {
        var next: Int64
        let since: Int64
        var history = History()
        /// Events passed so far.
        var passed = 0

        /// Whether there are more events to follow.
        var goesOn: Bool { next > since }

        /// Follows at most `events` events back.
        mutating func walk(_ readers: ReplayReaders, events: Int) throws(StoreError) {
            guard goesOn else { return }
            let end = passed + events
            let missing = try readers.reader().follow(from: next) { row throws(StoreError) in
                let links = try EventLinks(row)
                repeat { pass(to: links.previous(of: next)) } while goesOn && passed < end && links.holds(next)
                return goesOn && passed < end ? next : nil
            }
            guard missing != nil else { return }
            history.isExpired = true
            next = 0
        }

        /// Passes the event at `next`; the event before that is at `previous`.
        private mutating func pass(to previous: Int64) {
            if passed % History.stride == 0 { history.marks.append(next) }
            passed += 1
            history.oldest = next
            next = previous
            history.isWhole = previous == 0
        }
    }

    private func readSlice(
        _ begun: HistoryProgress, _ reply: @escaping @Sendable (Result<History, StoreError>) -> Void
    ) {
        enqueueSlice { [self] readers in
            var progress = begun
            do throws(StoreError) {
                try progress.walk(readers, events: Self.sliceEvents)
            } catch {
                return reply(.failure(error))
            }
            if progress.goesOn { return readSlice(progress, reply) }
            progress.history.marks.reverse()
            reply(.success(progress.history))
        }
    }
}

/// The links of a row's records, each to its timer's previous event. The row is read once, however many are asked for.
struct EventLinks {
    private var row: LogRow?
    private var previous: [Int64] = []

    /// Makes the links of no row.
    init() {}

    /// Reads the links of the records of `row`.
    init(_ row: LogRow) throws(StoreError) {
        var previous: [Int64] = []
        try BatchRows.read(row) { record in
            previous.append(record.previous)
            return true
        }
        self.row = row
        self.previous = previous
    }

    /// Whether the record at `position` is in the row.
    func holds(_ position: Int64) -> Bool {
        row?.index(of: position).map { $0 < previous.count } ?? false
    }

    /// Returns the position of the previous event, as the record at `position`, which is in the row, names it.
    func previous(of position: Int64) -> Int64 { row?.index(of: position).map { previous[$0] } ?? 0 }
}
