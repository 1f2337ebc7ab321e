import TimerLog

/// What the committer does about the log after an append that failed, which is no refusal: what the disk holds
/// decides. A state machine without I/O: each event moves it on, `task` says what is next.
///
/// | state | event | becomes |
/// |---|---|---|
/// | working | an append failed, its rows were shown | insisting |
/// | working | an append failed, its rows were not shown | folding |
/// | insisting | the rows are on disk | working |
/// | insisting | others wrote | folding |
/// | folding | the log was folded anew | probing |
/// | probing | the probe is on disk | working |
/// | probing | it is not known whether the probe is on disk | folding |
/// | working | on a shared storage an append was refused for now | appending again |
/// | working, appending again | on a shared storage the outcome of an append is unknown | settling |
/// | settling | the rows are on disk | working |
/// | settling | the rows never will be | appending again |
/// | appending again | the rows are on disk | working |
/// | settling, appending again | the log ends elsewhere | folding |
/// | probing | the probe is on disk, of a log that had lost rows that it had promised to keep | holding |
/// | holding | an operator accepts the loss | working |
/// | any but working | its attempt failed | the same, after a pause |
struct StorageRecovery {
    /// What is next.
    enum Task: Equatable {
        /// Nothing: storage works.
        case none
        /// Append what was shown already once more, until the disk takes it.
        case append(reopening: Bool)
        /// Fold the log anew: what was shown to nobody is given up.
        case fold(FoldRequest)
        /// Write a record that says nothing new.
        case probe
        /// Find out what became of the rows, of a log that others may write.
        case settle
        /// Nothing before an operator accepts that the log has lost rows: reads are answered, nothing changes.
        case hold
        /// Append the rows once more to a log that others may write, which do not hold them.
        case appendAgain
    }

    /// How the log is to be folded anew.
    struct FoldRequest: Equatable {
        /// Whether the store is opened anew before, as it is not known what it holds.
        var isReopening: Bool
        /// Whether reads are shown first what was surely on disk before the rows.
        var showsDurablePart: Bool
        /// The rows of which it is to be found out whether they are on disk.
        var rows: [LogRow]
        /// Whether the log has lost rows that it had promised to keep.
        var followsLoss = false
    }

    private(set) var task = Task.none
    /// Whether the attempt at hand failed: the next follows a pause.
    private(set) var isPausing = false
    /// Whether the log has lost rows that it had promised to keep, which no operator has accepted yet.
    private var hasLoss = false

    /// Whether storage works.
    var isWorking: Bool { task == .none }

    /// An append of `rows` failed.
    ///
    /// - Parameter wereShown: the rows were shown already, so they are kept until the disk takes them.
    mutating func appendFailed(_ outcome: AppendOutcome, _ rows: [LogRow], wereShown: Bool) {
        let isOpen = Self.isKnown(outcome)
        isPausing = false
        task =
            wereShown
            ? .append(reopening: !isOpen)
            : .fold(FoldRequest(isReopening: !isOpen, showsDurablePart: !isOpen, rows: rows))
    }

    /// An append of `rows` to a log that others may write failed, and was not fenced. What was taken is kept.
    mutating func sharedAppendFailed(_ outcome: AppendOutcome, _ rows: [LogRow]) {
        isPausing = false
        switch outcome {
        case .durable, .fenced: return
        case .unknown: task = .settle
        case .absent(let error) where error.kind != .damaged:
            task = .appendAgain
            isPausing = true
        case .absent: refold(rows, followsLoss: false)
        case .diverged(let error): refold(rows, followsLoss: error.kind == .lost)
        }
    }

    /// What became of `rows` was asked, of a log that others may write.
    mutating func settled(_ settlement: Settlement, _ rows: [LogRow]) {
        switch settlement {
        case .landed: task = .none
        case .absent: task = .appendAgain
        case .diverged(let error): refold(rows, followsLoss: error.kind == .lost)
        case .unknown: isPausing = true
        case .fenced: return
        }
    }

    /// The rows were appended once more to a log that others may write.
    mutating func appendedToShared(_ outcome: AppendOutcome, _ rows: [LogRow]) {
        if outcome == .durable { task = .none } else { sharedAppendFailed(outcome, rows) }
    }

    private mutating func refold(_ rows: [LogRow], followsLoss: Bool) {
        hasLoss = hasLoss || followsLoss
        task = .fold(
            FoldRequest(isReopening: true, showsDurablePart: false, rows: rows, followsLoss: followsLoss))
    }

    /// An operator has accepted that rows are lost.
    mutating func acceptLoss() {
        guard task == .hold else { return }
        hasLoss = false
        task = .none
    }

    /// What became of a further attempt to append the rows.
    enum Attempt {
        case landed
        /// Nothing was written, or the store could not be opened.
        case failed(isOpen: Bool)
        /// The log is another one: others wrote.
        case foreign
    }

    /// Another attempt to append `rows` ended.
    mutating func appendedAgain(_ attempt: Attempt, _ rows: [LogRow]) {
        switch attempt {
        case .landed: task = .none
        case .failed(let isOpen):
            task = .append(reopening: !isOpen)
            isPausing = true
        case .foreign: task = .fold(FoldRequest(isReopening: true, showsDurablePart: true, rows: rows))
        }
    }

    /// The log was folded anew, or could not be.
    mutating func folded(_ isDone: Bool) {
        guard case .fold(var request) = task else { return }
        isPausing = !isDone
        // What was surely on disk is shown once.
        request.showsDurablePart = false
        task = isDone ? .probe : .fold(request)
    }

    /// The probe, of `rows`, was appended, or was not. It is written before an operator accepts a loss: it says which versions were
    /// given, so that a server that is started meanwhile gives none of them again.
    mutating func probed(_ outcome: AppendOutcome, _ rows: [LogRow]) {
        switch outcome {
        case .durable: task = hasLoss ? .hold : .none
        case .absent: isPausing = true
        // What the disk holds must be found out again before the next attempt.
        case .diverged(let error): refold(rows, followsLoss: error.kind == .lost)
        case .unknown, .fenced: refold(rows, followsLoss: false)
        }
    }

    /// The pause is over.
    mutating func goOn() { isPausing = false }

    private static func isKnown(_ outcome: AppendOutcome) -> Bool { if case .absent = outcome { true } else { false } }
}
