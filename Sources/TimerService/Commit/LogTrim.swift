import Platform
import Synchronization
import TimerLog

/// The rows of the log that are to be deleted or replaced, and the size of the log. May be used on any thread.
///
/// The compactor asks; the committer does it between its batches, or, where other processes may write the log too,
/// the compactor itself.
final class LogTrim: Sendable {
    private struct State {
        /// Position up to which rows are to be deleted.
        var deleteThrough: Int64 = 0
        /// Position up to which rows are deleted.
        var deletedThrough: Int64
        /// Position up to which events are no longer kept, whether their rows are deleted yet or not.
        var expiredThrough: Int64 = 0
        /// Whether a deletion failed; the next one asked for tries again.
        var deletionFailed = false
        /// Bytes of the rows' data in the log, but for rows that are to be deleted; without those up to
        /// `uncountedThrough`.
        var held: RowBytes
        /// Position up to which rows were in the log at the beginning and are not counted yet; nil where all are.
        var uncountedThrough: Int64?
        /// Rows that are to replace others, and whether some are being written just now.
        var replacements: [RowReplacement] = []
        var isReplacing = false

        var wantsDeletion: Bool { deleteThrough > deletedThrough && !deletionFailed }
    }

    private let state: Guarded<State>
    /// Whether there may be something to do: nearly always there is nothing.
    private let isAsked = Atomic<Bool>(false)

    /// Begins with a log from which rows up to `deletedThrough` are deleted.
    ///
    /// - Parameters:
    ///   - held: bytes of the rows' data; nil where they are still to be counted: see `count`.
    ///   - end: the end of the log.
    init(deletedThrough: Int64, held: RowBytes?, through end: Int64) {
        state = Guarded(
            State(
                deletedThrough: deletedThrough, held: held ?? RowBytes(),
                uncountedThrough: held == nil ? end : nil))
    }

    // The requests of the compactor.

    /// Asks for the deletion of rows up to `position`, of so many bytes; nothing live rests on them any more.
    func delete(through position: Int64, _ bytes: RowBytes) {
        state.withLock { state in
            state.deleteThrough = max(state.deleteThrough, position)
            state.held -= bytes
            state.deletionFailed = false
            isAsked.store(true, ordering: .releasing)
        }
    }

    /// Asks that each of `rows` replace the rows that it spans.
    func replace(_ rows: [RowReplacement]) {
        state.withLock { state in
            state.replacements += rows
            isAsked.store(true, ordering: .releasing)
        }
    }

    /// Notes that events up to `position` are no longer kept.
    func expire(through position: Int64) {
        state.withLock { $0.expiredThrough = max($0.expiredThrough, position) }
    }

    /// Position up to which rows are to be counted before any is deleted or replaced; nil where all are counted.
    var uncountedThrough: Int64? { state.withLock { $0.uncountedThrough } }

    /// Notes the bytes of the rows up to `uncountedThrough`.
    func count(_ bytes: RowBytes) {
        state.withLock { state in
            // A fold of the log may have counted all rows meanwhile.
            if state.uncountedThrough != nil { state.held += bytes }
            state.uncountedThrough = nil
        }
    }

    /// Whether rows are still to replace others.
    var isReplacing: Bool { state.withLock { $0.isReplacing || !$0.replacements.isEmpty } }

    /// Position up to which events are no longer kept, whether their rows are deleted yet or not.
    var horizon: Int64 { state.withLock { max($0.expiredThrough, $0.deletedThrough) } }

    /// Bytes of the rows' data in the log, but for rows that are to be deleted.
    var bytes: RowBytes { state.withLock { $0.held } }

    /// Position up to which rows are to be deleted, or are.
    var deleteThrough: Int64 { state.withLock { $0.deleteThrough } }

    // The work on those requests.

    /// The work that is to be done at once.
    struct Work {
        /// Position up to which rows are to be deleted; nil for none.
        var deletion: Int64?
        /// Rows that are to replace others.
        var replacements: [RowReplacement] = []
    }

    /// Whether there is anything to do.
    var hasWork: Bool {
        guard isAsked.load(ordering: .acquiring) else { return false }
        return state.withLock { state in
            let hasWork = state.wantsDeletion || !state.replacements.isEmpty
            isAsked.store(hasWork, ordering: .releasing)
            return hasWork
        }
    }

    /// Takes the work that is to be done; `replaced` or `deleted` is called for each part of it.
    func take() -> Work {
        state.withLock { state in
            var work = Work(deletion: state.wantsDeletion ? state.deleteThrough : nil)
            swap(&work.replacements, &state.replacements)
            state.isReplacing = !work.replacements.isEmpty
            return work
        }
    }

    /// Notes the outcome of a deletion of rows up to `position`.
    ///
    /// - Parameter isOver: whether all of them are deleted; nil when the deletion failed.
    func deleted(through position: Int64, isOver: Bool?) {
        state.withLock { state in
            guard let isOver else { return state.deletionFailed = true }
            if isOver { state.deletedThrough = max(state.deletedThrough, position) }
        }
    }

    /// Notes that rows replaced others, or could not: then `replacements` is empty.
    func replaced(_ replacements: [RowReplacement]) {
        state.withLock { state in
            for replacement in replacements {
                state.held -= replacement.replaced
                state.held.add(replacement.row)
            }
            state.isReplacing = false
        }
    }

    /// Notes that the log has grown by rows.
    func grow(_ rows: [LogRow]) { state.withLock { $0.held += RowBytes(rows) } }

    /// Notes the bytes that a fold of the log found.
    func reset(held: RowBytes) { state.withLock { ($0.held, $0.uncountedThrough) = (held, nil) } }
}

/// A row that is to take the place of those it spans.
struct RowReplacement {
    var row: LogRow
    /// Bytes of the data of the replaced rows.
    var replaced: RowBytes
}
