import TimerLog

/// The committer's next step for the log after a failed append. A failure is no refusal: what the disk holds
/// decides. This is a state machine without I/O: each event moves it on, and `task` says what is next.
///
/// | state | event | becomes |
/// |---|---|---|
/// | working | an append failed, its rows were shown | insisting |
/// | working | an append failed, its rows were not shown | folding |
/// | insisting | the rows are on disk | working |
/// | insisting | others wrote | folding |
/// | folding | the log was folded again | probing |
/// | probing | the probe is on disk | working |
/// | probing | it is not known whether the probe is on disk | folding |
/// | working | on a shared storage an append was refused for now | appending again |
/// | working, appending again | on a shared storage the outcome of an append is unknown | settling |
/// | settling | the rows are on disk | working |
/// | settling | the rows never will be | appending again |
/// | appending again | the rows are on disk | working |
/// | settling, appending again | the log ends elsewhere | folding |
/// | working | the log, of which nothing is shown yet, lacks rows that an owner before had shown | probing |
/// | probing | the probe is on disk, of a log that had lost rows that it had promised to keep | holding |
/// | holding | an operator accepts the loss | working |
/// | any but working | its attempt failed | the same, after a pause |
struct StorageRecovery {
    /// The next step.
    enum Task: Equatable {
        /// Nothing: storage works.
        case none
        /// Append again the rows that clients were shown, until the disk takes them.
        case append(reopening: Bool)
        /// Fold the log again: what was shown to nobody is dropped unless the disk holds it.
        case fold(FoldRequest)
        /// Write a record that says nothing new.
        case probe
        /// Find out what became of the rows, of a log that others may write.
        case settle
        /// Wait until an operator accepts that the log has lost rows: reads are answered, nothing changes.
        case hold
        /// Append the rows again to a log that others may write, which does not hold them.
        case appendAgain
    }

    /// The way in which the log is to be folded again.
    struct FoldRequest: Equatable {
        /// Whether the store is opened again before the fold, as it is not known what it holds.
        var isReopening: Bool
        /// Whether reads are first shown what was surely on disk before the rows.
        var showsDurablePart: Bool
        /// The rows whose fate the fold has to find out.
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

    /// Notes that an append of `rows` failed.
    ///
    /// - Parameter wereShown: whether the rows were shown already, so that they are kept until the disk takes them.
    mutating func appendFailed(_ outcome: AppendOutcome, _ rows: [LogRow], wereShown: Bool) {
        let isOpen = Self.isKnown(outcome)
        isPausing = false
        task =
            wereShown
            ? .append(reopening: !isOpen)
            : .fold(FoldRequest(isReopening: !isOpen, showsDurablePart: !isOpen, rows: rows))
    }

    /// Notes that an append of `rows` to a log that others may write failed, and was not fenced. The rows are kept,
    /// unless the log has to be folded again.
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

    /// Notes what became of `rows`, of a log that others may write.
    mutating func settled(_ settlement: Settlement, _ rows: [LogRow]) {
        switch settlement {
        case .landed: task = .none
        case .absent: task = .appendAgain
        case .diverged(let error): refold(rows, followsLoss: error.kind == .lost)
        case .unknown: isPausing = true
        case .fenced: return
        }
    }

    /// Notes the outcome of appending the rows once more to a log that others may write.
    mutating func appendedToShared(_ outcome: AppendOutcome, _ rows: [LogRow]) {
        if outcome == .durable { task = .none } else { sharedAppendFailed(outcome, rows) }
    }

    private mutating func refold(_ rows: [LogRow], followsLoss: Bool) {
        hasLoss = hasLoss || followsLoss
        task = .fold(
            FoldRequest(isReopening: true, showsDurablePart: false, rows: rows, followsLoss: followsLoss))
    }

    /// Notes that the log, of which nothing is shown yet, lacks rows that an owner before had shown.
    mutating func foundLoss() {
        hasLoss = true
        task = .probe
    }

    /// Notes that an operator has accepted the loss of rows.
    mutating func acceptLoss() {
        guard task == .hold else { return }
        hasLoss = false
        task = .none
    }

    /// The outcome of a further attempt to append the rows.
    enum Attempt {
        case landed
        /// Nothing was written, if the store is open; else it has to be opened to find out.
        case failed(isOpen: Bool)
        /// Another writer has written the log.
        case foreign
    }

    /// Notes that another attempt to append `rows` ended.
    mutating func appendedAgain(_ attempt: Attempt, _ rows: [LogRow]) {
        switch attempt {
        case .landed: task = .none
        case .failed(let isOpen):
            task = .append(reopening: !isOpen)
            isPausing = true
        case .foreign: task = .fold(FoldRequest(isReopening: true, showsDurablePart: true, rows: rows))
        }
    }

    /// Notes that the log was folded again, or could not be.
    mutating func folded(_ isDone: Bool) {
        guard case .fold(var request) = task else { return }
        isPausing = !isDone
        // The part that was surely on disk is shown once, not before each attempt.
        request.showsDurablePart = false
        task = isDone ? .probe : .fold(request)
    }

    /// Notes the outcome of the probe, whose rows are `rows`. The probe is written before an operator accepts a
    /// loss: it says which versions were given, so that a server that is started meanwhile gives none of them
    /// again.
    mutating func probed(_ outcome: AppendOutcome, _ rows: [LogRow]) {
        switch outcome {
        case .durable: task = hasLoss ? .hold : .none
        case .absent: isPausing = true
        // The contents of the disk must be found out again before the next attempt.
        case .diverged(let error): refold(rows, followsLoss: error.kind == .lost)
        case .unknown, .fenced: refold(rows, followsLoss: false)
        }
    }

    /// Notes that the pause is over.
    mutating func goOn() { isPausing = false }

    private static func isKnown(_ outcome: AppendOutcome) -> Bool { if case .absent = outcome { true } else { false } }
}
