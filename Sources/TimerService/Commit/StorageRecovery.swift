import TimerLog

/// What the committer does about a partition's log after an append that failed, which is no refusal: what the disk holds
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
    }

    /// How the log is to be folded anew.
    struct FoldRequest: Equatable {
        /// Whether the store is opened anew before, as it is not known what it holds.
        var isReopening: Bool
        /// Whether reads are shown first what was surely on disk before the rows.
        var showsDurablePart: Bool
        /// The rows of which it is to be found out whether they are on disk.
        var rows: [LogRow]
    }

    private(set) var task = Task.none
    /// Whether the attempt at hand failed: the next follows a pause.
    private(set) var isPausing = false

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

    /// The probe, of `rows`, was appended, or was not.
    mutating func probed(_ outcome: AppendOutcome, _ rows: [LogRow]) {
        switch outcome {
        case .durable: task = .none
        case .absent: isPausing = true
        case .unknown, .diverged, .fenced:
            // What the disk holds must be found out again before the next attempt.
            task = .fold(FoldRequest(isReopening: true, showsDurablePart: false, rows: rows))
        }
    }

    /// The pause is over.
    mutating func goOn() { isPausing = false }

    private static func isKnown(_ outcome: AppendOutcome) -> Bool { if case .absent = outcome { true } else { false } }
}
