public import TimerLog

/// A timer's history: its events, found by following their links back, a bounded slice at a time.
extension Replayer {
    /// A timer's events, from the newest back.
    public struct History: Sendable {
        /// Events from one mark to the next.
        public static let stride = 256
        /// Positions of the newest event, the 256th before it, and so on, oldest first: a mark every `stride` events, so
        /// that a history costs little however long it is.
        public var marks: [Int64] = []
        /// The oldest event that was found; 0 for none.
        public var oldest: Int64 = 0
        /// Whether it goes back to the timer's creation.
        public var isWhole = false
        /// Whether events behind the asker's position are gone.
        public var isExpired = false
    }

    /// Events that one slice passes: other jobs come in between.
    private static let sliceEvents = 4 * History.stride

    /// Follows a timer's events back from the one at `newest` to those after `since`.
    public func history(
        newest: Int64, since: Int64, reply: @escaping @Sendable (Result<History, StoreError>) -> Void
    ) {
        readSlice(HistoryProgress(next: newest, since: since), reply)
    }

    /// How far a history was followed back.
    private struct HistoryProgress: Sendable {
        var next: Int64
        let since: Int64
        var history = History()
        /// Events since the last mark.
        var passed = 0
    }

    private func readSlice(
        _ begun: HistoryProgress, _ reply: @escaping @Sendable (Result<History, StoreError>) -> Void
    ) {
        enqueueSlice { [self] readers in
            var progress = begun
            var links = EventLinks()
            do throws(StoreError) {
                for _ in 0..<Self.sliceEvents where progress.next > progress.since {
                    if !links.holds(progress.next) {
                        guard let row = try readers.storedRow(holding: progress.next) else {
                            progress.history.isExpired = true
                            progress.next = 0
                            break
                        }
                        links = try EventLinks(row)
                    }
                    if progress.passed % History.stride == 0 { progress.history.marks.append(progress.next) }
                    progress.passed += 1
                    progress.history.oldest = progress.next
                    progress.next = links.previous(of: progress.next)
                    progress.history.isWhole = progress.next == 0
                }
            } catch {
                return reply(.failure(error))
            }
            if progress.next > progress.since { return readSlice(progress, reply) }
            progress.history.marks.reverse()
            reply(.success(progress.history))
        }
    }
}
