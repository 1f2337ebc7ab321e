import Platform
import TimerLog

/// Whether a standby follows the log.
public enum StandbyKind: String, Sendable, CaseIterable {
    /// The standby reads each row as it comes, and has the owner's state in memory.
    case warm
    /// The standby reads the log when it takes it over.
    case cold
}

/// How far a standby has read the log.
public struct StandbyProgress: Sendable, Equatable {
    /// Position of the newest record that was read.
    public var head: Int64 = 0
    /// Position of the newest record in the log, as it was last reported; 0 before that.
    public var end: Int64 = 0
    /// Whether the end of the log was reached since this process became a standby.
    public var isWarm = false
    /// Whether the end of the log was reached since the fold began for the last time.
    public var isWhole = false
    /// How often the fold has begun again since the process started, by cause.
    public var breaks: [StandbyBreak: Int] = [:]

    /// Makes the progress of a standby that has read nothing.
    ///
    /// - Parameter end: see the member.
    public init(end: Int64 = 0) { self.end = end }

    /// Nanoseconds since boot at which a record was reported that is not read yet; nil where there is none.
    public var isBehindSince: Int64?

    /// For how many seconds a record has been known that is not read yet.
    public var lagSeconds: Double {
        isBehindSince.map { Double(max(0, Clocks.boottime() - $0)) / 1e9 } ?? 0
    }

    /// Notes whether records are known that are not read yet.
    mutating func noteLag(at now: Int64) { isBehindSince = end > head ? isBehindSince ?? now : nil }
}

/// Reads the log while another process owns it, on a thread of its own, so that a take-over has but the rest to read.
final class Standby: Worker, @unchecked Sendable {
    // Unchecked: `fold` belongs to the worker's thread while `state` says that the thread reads, else to the thread that
    // takes the log over.
    let name = "standby"

    private struct State {
        /// Whether the log is read: not while this process has it, or takes it over.
        var isReading = true
        /// Whether the thread uses the fold.
        var isBusy = false
        var isStopped = false
        /// Whether a round is asked for: the log may have changed since the last one.
        var isAsked = false
        /// The number of rounds in a row that found the log unreadable.
        var failures: Int64 = 0
        /// Nanoseconds since boot before which nothing is tried again after a failure.
        var pausedUntil: Int64 = 0
        /// Nanoseconds since boot until which nothing is read, as the engine that this process had is still being freed;
        /// nil once its memory was given back.
        var freesUntil: Int64?
        var progress = StandbyProgress()
        /// The positions that owners may have shown, which the fold does not know of yet.
        var shown: [Int64] = []

        /// Begins a round, if one is asked for.
        mutating func beginRound(at now: Int64) -> Bool {
            guard isReading, isAsked, now >= pausedUntil, now >= freesUntil ?? .min else { return false }
            (isAsked, isBusy) = (false, true)
            return true
        }

        /// Notes how far a round has read, which may take long, and returns whether it goes on.
        mutating func goOn(from head: Int64) -> Bool {
            progress.head = head
            return isReading && !isStopped
        }

        /// Notes that an owner may have shown the log through `position`.
        mutating func noteShown(_ position: Int64?) {
            guard let position, position > shown.last ?? 0 else { return }
            shown.append(position)
        }

        /// Returns the positions that were noted since this was called last.
        mutating func takeShown() -> [Int64] {
            defer { shown = [] }
            return shown
        }

        /// Asks for a round if the log ends elsewhere than what was read.
        mutating func ask(at now: Int64) {
            // A log that ends before the newest record that was read may have lost that.
            isAsked = isAsked || progress.end != progress.head || !progress.isWhole
            progress.noteLag(at: now)
        }

        /// Notes a round that failed. The pauses grow where the log can't be read, as each attempt reads it from its
        /// start; otherwise the next attempt goes on, and comes soon.
        mutating func noteFailure(_ error: StoreError, at now: Int64) {
            switch error.kind {
            case .damaged, .unusable: failures += 1
            default: failures = 1
            }
            pausedUntil = now + min(failures * Standby.pause, Standby.longestPause)
        }
    }

    enum Work {
        case read, forget
    }

    /// Nanoseconds from one look at what expires to the next, and from the first failure to the next attempt.
    private static let pause: Int64 = 1_000_000_000
    /// The most nanoseconds from a failure to the next attempt.
    private static let longestPause: Int64 = 60_000_000_000
    /// The most nanoseconds for which a dropped engine is waited for: a slow reader may hold it for long. Set before the
    /// worker starts.
    var longestFreeing: Int64 = 5_000_000_000

    private let state = Guarded(State())
    private var fold: StandbyFold?
    /// The greatest position and version that the folds before read and that the log may have lost.
    private var lost = HighWaterMark()
    private let store: any LogStore
    private let secret: [UInt8]
    private let configuration: EngineConfiguration
    private let losses: LossRegister
    private let report: @Sendable (ServiceEvent) -> Void

    /// - Parameters:
    ///   - secret: the log's secret.
    ///   - losses: takes the losses that are found.
    init(
        _ store: any LogStore, secret: [UInt8], _ configuration: EngineConfiguration, losses: LossRegister,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.store = store
        self.secret = secret
        self.configuration = configuration
        self.losses = losses
        self.report = report
    }

    /// How far the log is read.
    var progress: StandbyProgress { state.withLock { $0.progress } }

    /// Notes where the log ends: rows up to there are read soon.
    ///
    /// - Parameter shown: position through which the log's owner may have shown it; nil where it is not known.
    func read(through end: Int64, shown: Int64? = nil) {
        state.update { state in
            state.noteShown(shown)
            state.progress.end = end
            state.ask(at: Clocks.boottime())
        }
    }

    /// Ends the reading, and returns the fold.
    func take() -> StandbyFold {
        state.update { $0.isReading = false }
        store.awaitReads(in: state) { !$0.isBusy }
        let taken = nextFold()
        lost = taken.lost
        return taken
    }

    /// Reads the log again, as another process has it now, once the engine that this process had is freed: what is read
    /// takes as much memory again.
    ///
    /// - Parameters:
    ///   - fold: the fold that goes on; nil: the log is read from its start.
    ///   - hadEngine: whether `engineWasFreed` is still to be called.
    func restart(_ fold: consuming StandbyFold? = nil, hadEngine: Bool = false) {
        self.fold = fold.take()
        state.update { state in
            state.freesUntil = hadEngine ? Clocks.boottime() + longestFreeing : nil
            let (end, breaks) = (state.progress.end, state.progress.breaks)
            state.progress = StandbyProgress(end: end)
            state.progress.breaks = breaks
            state.isReading = true
            state.ask(at: Clocks.boottime())
        }
    }

    /// Notes that the engine that this process had is freed.
    func engineWasFreed() { state.update { $0.freesUntil = $0.freesUntil.map { _ in .min } } }

    func run() {
        while let work = nextWork() {
            var fold = nextFold()
            switch work {
            case .read: read(&fold)
            case .forget: fold.forget(at: Clocks.boottime())
            }
            self.fold = consume fold
            state.update { $0.isBusy = false }
        }
    }

    /// Returns the fold, which knows what owners may have shown; a new one where nothing is read.
    private func nextFold() -> StandbyFold {
        var next = fold.take() ?? StandbyFold(secret: secret, configuration, lost: lost)
        for position in state.withLock({ $0.takeShown() }) { next.shown.note(position) }
        return next
    }

    func stop() { state.update { $0.isStopped = true } }

    /// Waits for work, and returns it; nil once the worker is stopped.
    func nextWork() -> Work? {
        while true {
            let found = state.wait(nanoseconds: Self.pause) { state -> Work?? in
                if state.isStopped { return .some(nil) }
                return state.beginRound(at: Clocks.boottime()) ? .read : nil
            }
            if let found { return found }
            let mayForget = state.withLock { state in
                if state.isReading { state.isBusy = true }
                return state.isReading
            }
            if mayForget { return .forget }
        }
    }

    /// Reads a round, and reports where it has come.
    private func read(_ fold: inout StandbyFold) {
        // Other threads allocated the engine, so that the allocator keeps its memory where this one can't have it.
        if state.withLock({ $0.freesUntil.take() }) != nil { ProcessUsage.trimMemory() }
        let now = Clocks.boottime()
        var round: StandbyFold.Round?
        do throws(StoreError) {
            let reader = try store.makeFollower()
            round = try fold.round(at: now, reader) { head in state.withLock { $0.goOn(from: head) } }
        } catch {
            state.withLock { $0.noteFailure(error, at: Clocks.boottime()) }
            report(.standbyFailing(error))
        }
        if case .broken(let cause)? = round {
            state.withLock { $0.progress.breaks[cause, default: 0] += 1 }
            report(.standbyFoldsAgain(cause))
        }
        if let loss = fold.takeLoss() {
            losses.note(loss)
            report(.rowsLost(loss, isOwner: false, isAccepted: losses.held == nil))
        }
        let (head, isWhole) = (fold.head, fold.isWhole)
        state.withLock { state in
            if round != nil { state.failures = 0 }
            state.isAsked = state.isAsked || round != .ended
            state.progress.head = head
            state.progress.isWarm = state.progress.isWarm || isWhole
            state.progress.isWhole = isWhole
            state.progress.noteLag(at: now)
        }
    }
}
