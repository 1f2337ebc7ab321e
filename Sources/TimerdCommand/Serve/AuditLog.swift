import Platform
import TimerAPI

/// The audit log: a line of JSON for each request that changed or exported something or was refused, written by a
/// thread of its own.
///
/// Requests are never held up by the file. While the file takes no lines, records wait in a bounded queue, and beyond it
/// they are dropped and counted.
final class AuditLog: Sendable {
    private struct State {
        var queue: AuditQueue
        /// Whether the file is to be opened again before the next line.
        var isToReopen = false
        /// The end of the time for what waits, on the monotonic clock; nil unless the server stops.
        var deadline: Int64?
        /// Whether the thread has ended.
        var isDone = false
        /// Lines that were given up at the end.
        var unwritten = 0
    }

    /// The next work of the thread.
    private enum Work {
        case reopen
        case write([AuditRecord], dropped: Int)
        case end
    }

    /// Bytes of memory for the records that wait.
    static let mostBytes = 8 << 20
    /// The most records that the thread takes at once.
    private static let recordsAtOnce = 64
    /// Nanoseconds between two tries of a file that can't be written.
    private static let retryPause: Int64 = 250_000_000
    /// Milliseconds between two looks at what is asked for, while a pipe is full.
    private static let fullPause: Int32 = 100
    /// Nanoseconds that `reopen` waits, and that a stop may take.
    private static let longestReopen: Int64 = 1_000_000_000
    private static let longestStop: Int64 = 2_000_000_000
    private static let newline = UInt8(ascii: "\n")

    private let file: AppendedFile
    private let state: Guarded<State>
    private let report: @Sendable (String) -> Void

    /// Opens the file at `path`, or makes one; `-` is standard output. Nothing is written before `start`.
    ///
    /// - Parameter report: called with the reason each time that the file can't be opened again or written.
    init(
        _ path: String, mostBytes: Int = AuditLog.mostBytes, report: @escaping @Sendable (String) -> Void
    ) throws(AppendedFile.Fault) {
        file = try AppendedFile(path == "-" ? nil : path)
        state = Guarded(State(queue: AuditQueue(mostBytes: mostBytes)))
        self.report = report
    }

    /// Begins to write.
    func start() { Thread(name: "audit") { [self] in run() }.detach() }

    /// The log as the API knows it.
    var trail: AuditTrail {
        AuditTrail(
            note: { [self] record in state.update { $0.queue.append(record) } },
            dropped: { [self] in state.withLock { $0.queue.droppedInAll } })
    }

    /// Opens the file again, as it may have been moved away, and waits until that is done, for a second at most.
    func reopen() {
        state.update { $0.isToReopen = true }
        _ = state.wait(nanoseconds: Self.longestReopen) { $0.isToReopen ? nil : () }
    }

    /// Writes what waits, for at most `nanoseconds`, and ends.
    ///
    /// - Returns: the number of lines that were not written.
    func stop(nanoseconds: Int64 = AuditLog.longestStop) -> Int {
        state.update { $0.deadline = Clocks.monotonic() + nanoseconds }
        // The thread may be held up by a write, so it is not joined.
        let unwritten = state.wait(nanoseconds: nanoseconds + Self.longestReopen) { $0.isDone ? $0.unwritten : nil }
        return unwritten ?? state.withLock { $0.unwritten + $0.queue.count }
    }

    // MARK: The thread

    private func run() {
        while true {
            switch next() {
            case .reopen: reopenFile()
            case .write(let records, let dropped):
                var lines: [UInt8] = []
                for (index, record) in records.enumerated() { lines += record.line(dropped: index == 0 ? dropped : 0) }
                write(lines)
            case .end: return state.update { $0.isDone = true }
            }
        }
    }

    private func next() -> Work {
        state.wait { state -> Work? in
            if state.isToReopen { return .reopen }
            let (records, dropped) = state.queue.take(Self.recordsAtOnce)
            if !records.isEmpty { return .write(records, dropped: dropped) }
            return state.deadline == nil ? nil : .end
        }
    }

    /// Writes all lines, however long the file takes none, unless the server stops.
    private func write(_ lines: [UInt8]) {
        var rest = lines[...]
        while !rest.isEmpty {
            do throws(AppendedFile.Fault) {
                let count = try file.write(Self.piece(of: rest))
                rest = rest.dropFirst(count)
                if count > 0 { continue }
                if isLate { return giveUp(rest) }
                file.waitForRoom(milliseconds: Self.fullPause)
            } catch {
                report(error.description)
                if state.withLock({ $0.deadline != nil }) { return giveUp(rest) }
                _ = state.wait(nanoseconds: Self.retryPause) { $0.deadline != nil || $0.isToReopen ? () : nil }
            }
            if state.withLock({ $0.isToReopen }), reopenFile() {
                // The beginning of a line that went to the file before is written to the new one too.
                let start = lines[..<rest.startIndex].lastIndex(of: Self.newline).map { $0 + 1 } ?? 0
                rest = lines[start...]
            }
        }
    }

    /// Whether the time for what waits is over.
    private var isLate: Bool {
        let deadline = state.withLock { $0.deadline }
        return deadline.map { $0 < Clocks.monotonic() } ?? false
    }

    /// Returns the beginning of `rest` that is written at once: whole lines, as far as they fit, since other threads and
    /// processes may write to the same pipe.
    private static func piece(of rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let piece = rest.prefix(AppendedFile.mostBytes)
        if piece.count == rest.count { return piece }
        return piece.lastIndex(of: newline).map { rest[rest.startIndex...$0] } ?? piece
    }

    private func giveUp(_ lines: ArraySlice<UInt8>) {
        let count = lines.count(where: { $0 == Self.newline })
        state.withLock { $0.unwritten += count }
    }

    /// Opens the file again. Returns false where the file before stays open.
    @discardableResult
    private func reopenFile() -> Bool {
        defer { state.update { $0.isToReopen = false } }
        do throws(AppendedFile.Fault) {
            try file.reopen()
            return true
        } catch {
            report(error.description)
            return false
        }
    }
}
