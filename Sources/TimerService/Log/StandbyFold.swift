import TimerCore
import TimerLog

/// The causes for which a standby's fold begins again.
public enum StandbyBreak: String, Sendable, CaseIterable {
    /// Compaction has deleted rows that were not read. The deletion of a timer may have been among them, so that the
    /// fold would keep the timer for ever.
    case overtaken
    /// A condensed row took the place of rows of which only the first were read.
    case condensed
    /// The log ends before the newest row that was read, or goes on from there differently: it has lost rows.
    case diverged
}

/// The fold of a log that is continued as the log grows: the owner's state as of the newest row that was read. No clock,
/// thread or storage is inside.
///
/// A round reads on from the newest row that was folded. The owner may meanwhile have deleted or condensed rows that
/// were folded. Where the log does not go on from there, the fold begins again: see `StandbyBreak`.
struct StandbyFold: ~Copyable {
    /// The outcome of a round.
    enum Round: Sendable, Equatable {
        /// The end of the log was reached.
        case ended
        /// The caller has ended the round before that.
        case stopped
        /// The fold has begun again, and the next round reads from the start of the log.
        case broken(StandbyBreak)
    }

    /// Milliseconds for which a dead letter is kept beyond its time, so that a calendar that was set ahead drops none.
    private static let deadLetterGrace: Int64 = 3_600_000

    private let secret: [UInt8]
    private let configuration: EngineConfiguration
    /// The fold, without the answers.
    private(set) var fold: LogFold
    /// The answers to requests with an idempotency key.
    private(set) var answered: IdempotencyTable
    /// The newest row that was folded.
    private var newest: LogRow?
    /// The newest rows that were folded since the end of the log was reached, for streams of clients of the next owner.
    private(set) var recent = RecentRows(after: 0)
    /// The number of rounds since the fold began.
    private var rounds = 0
    /// Elapsed nanoseconds at which the newest row was folded; nil where they are not known.
    private var readAt: Int64?
    /// Wall milliseconds at which dead letters were last looked through.
    private var lookedAt: Int64 = .min
    /// Whether the end of the log was reached since the fold began. Every record that compaction wrote again, for rows
    /// that it deleted before the first row was read, is folded then.
    private(set) var isWhole = false
    /// The greatest position and version that were read or shown, and that the log may have lost.
    private(set) var lost: HighWaterMark
    /// The positions that owners of the log may have shown.
    var shown = ShownPositions()
    /// The rows that were shown and are lost, as far as nobody has asked for them.
    private(set) var loss: LostRows?

    /// Makes a fold of which nothing is read.
    ///
    /// - Parameters:
    ///   - secret: the log's secret.
    ///   - lost: see the member.
    init(secret: [UInt8], _ configuration: EngineConfiguration, lost: HighWaterMark = HighWaterMark()) {
        self.secret = secret
        self.configuration = configuration
        self.lost = lost
        fold = Self.emptyFold(secret, configuration)
        answered = IdempotencyTable(configuration)
    }

    private static func emptyFold(_ secret: [UInt8], _ configuration: EngineConfiguration) -> LogFold {
        LogFold(secret: secret, maximumTimers: configuration.maximumTimers, zones: configuration.zones)
    }

    /// Position of the newest record that was folded; 0 for none.
    var head: Int64 { fold.head }

    /// Bytes of the rows' data in the log; nil where rows may have been deleted or condensed since they were counted.
    var bytes: RowBytes? { rounds <= 1 ? fold.bytes : nil }

    /// A round that is under way.
    private struct RoundUnderWay {
        /// Whether a row was read that holds the position of the newest one or a later position; true where nothing is
        /// folded yet.
        var hasRead: Bool
        /// Whether rows that were not read may be deleted or replaced during the round.
        let isShared: Bool
        /// Elapsed nanoseconds at its begin; nil where they are not known.
        let elapsed: Int64?
        /// The outcome, where the round ends before the end of the log.
        var outcome: Round?
    }

    /// Reads and folds the rows after the newest one.
    ///
    /// - Parameters:
    ///   - elapsed: nanoseconds on a clock that nobody sets; nil where they are not known.
    ///   - isShared: whether rows that were not read may be deleted or replaced during the round. If not, a row that
    ///     does not follow the one read before it is damage.
    ///   - goesOn: asked before each row, with the position of the newest record that was folded, whether the round
    ///     goes on.
    /// - Throws: the errors of reading, and `damaged` for a row that is; the fold begins again then.
    mutating func round(
        at elapsed: Int64?, _ reader: any LogReader, isShared: Bool = true,
        while goesOn: (Int64) -> Bool = { _ in true }
    ) throws(StoreError) -> Round {
        var round = beginRound(isShared, at: elapsed)
        try reader.readDecoded(from: head) { row throws(StoreError) in
            if goesOn(head) { try take(row, in: &round) } else { round.outcome = .stopped }
            return round.outcome == nil
        }
        return end(round)
    }

    /// Reads and folds the rows of an open log after the newest one, while another thread reads and decodes the next
    /// ones.
    ///
    /// - Parameters:
    ///   - isShared: as in the method above.
    ///   - moved: called now and then on the way.
    /// - Throws: as the method above.
    mutating func round(
        readingAhead store: any LogStore, isShared: Bool, moved: () -> Void
    ) throws(StoreError) -> Round {
        var round = beginRound(isShared, at: nil)
        do throws(StoreError) {
            try store.readAhead(from: head, moved: moved) { row throws(StoreError) in
                try take(row, in: &round)
                if round.outcome != nil { throw Self.roundEnd }
            }
        } catch {
            if round.outcome == nil { throw error }
        }
        return end(round)
    }

    /// The error by which a round ends before the end of the log.
    private static let roundEnd = StoreError(.unavailable, "the round is over")

    private mutating func beginRound(_ isShared: Bool, at elapsed: Int64?) -> RoundUnderWay {
        rounds += 1
        return RoundUnderWay(hasRead: newest == nil, isShared: isShared, elapsed: elapsed)
    }

    private mutating func end(_ round: RoundUnderWay) -> Round {
        if let outcome = round.outcome { return outcome }
        guard round.hasRead else { return begin(after: .diverged) }
        becomeWhole()
        return .ended
    }

    /// Folds the next row of a round, or recognises the newest one.
    private mutating func take(_ decoded: DecodedRow, in round: inout RoundUnderWay) throws(StoreError) {
        // The first row of a round may follow deleted or lost ones, also where nobody else uses the log by now.
        let mayBreak = round.isShared || !round.hasRead
        round.hasRead = true
        let row = decoded.row
        if let found = shown.meet(row) { note(found) }
        if let newest, mayBreak {
            if row.last == newest.last {
                if row != newest, !Self.replaces(row, newest) { return round.outcome = begin(after: .diverged) }
                self.newest = row
                return
            }
            if row.previous != newest.last { return round.outcome = begin(after: Self.cause(row, newest)) }
        }
        do throws(StoreError) { try fold.fold(decoded) } catch {
            // Some of the row's records may be folded.
            begin()
            throw error
        }
        (newest, readAt) = (row, round.elapsed)
        guard isWhole else { return }
        for answer in fold.takeAnswers() { answered.note(answer) }
        keep(row)
    }

    /// Notes rows that were shown and are lost. The versions in rows that were not read are not known: each change takes
    /// a position, and no timer gets a version a microsecond.
    private mutating func note(_ found: LostRows) {
        loss = found
        if found.through > max(head, lost.position) {
            let span = found.through - found.after
            let versions = min(span, (span / CalendarPosition.perSecond + 1) * 1_000_000)
            lost.version = max(lost.version, fold.highestVersion) + versions
        }
        lost.position = max(lost.position, found.through)
    }

    /// Returns the rows that were shown and are lost, once for each loss.
    mutating func takeLoss() -> LostRows? { loss.take() }

    /// Keeps the row among the newest ones.
    private mutating func keep(_ row: LogRow) {
        // A condensed row lacks events, and the rows that are kept follow each other.
        if BatchHeader.kind(of: row) == .condensed { return recent = RecentRows(after: row.last) }
        recent.append(row)
        recent.drop(downTo: RecentRows.capacityBytes)
    }

    /// Whether `row` is a condensed row in the place of `newest` and rows before it.
    private static func replaces(_ row: LogRow, _ newest: LogRow) -> Bool {
        BatchHeader.kind(of: row) == .condensed && row.first <= newest.first
    }

    /// Returns why `row`, which does not follow `newest`, does not.
    private static func cause(_ row: LogRow, _ newest: LogRow) -> StandbyBreak {
        if row.previous > newest.last { return .overtaken }
        return BatchHeader.kind(of: row) == .condensed ? .condensed : .diverged
    }

    private mutating func begin(after cause: StandbyBreak) -> Round {
        if cause == .diverged {
            lost.position = max(lost.position, fold.head)
            lost.version = max(lost.version, fold.highestVersion)
        }
        begin()
        return .broken(cause)
    }

    private mutating func begin() {
        fold = Self.emptyFold(secret, configuration)
        answered = IdempotencyTable(configuration)
        recent = RecentRows(after: 0)
        (newest, rounds, isWhole, lookedAt) = (nil, 0, false, .min)
    }

    /// Brings what was folded from the start of the log into the owner's form.
    private mutating func becomeWhole() {
        if isWhole { return fold.indexFolded() }
        isWhole = true
        recent = RecentRows(after: head)
        fold.foldOn(deadLetters: configuration.deliveries.deadLetters)
        for answer in fold.takeAnswers().sorted(by: LogFold.AnswerPlace.isOlder) { answered.note(answer) }
    }

    /// Forgets what the owner has forgotten by now without a record of it: answers and dead letters whose time is over.
    /// Called while no new rows come, so it drops the newest rows but a few as well, as the owner does.
    ///
    /// Time counts from the clock of the newest row, so that a calendar that is wrong here makes nothing forgotten.
    ///
    /// - Parameter elapsed: nanoseconds on the clock of the rounds.
    mutating func forget(at elapsed: Int64) {
        recent.drop(downTo: RecentRows.restingBytes)
        guard isWhole, let base = fold.lastBase else { return }
        let passed = readAt.map { max(0, elapsed - $0) } ?? 0
        let wall = base.now.wall + passed / 1_000_000
        while answered.expire(wall) {}
        guard wall - Self.deadLetterGrace >= lookedAt else { return }
        lookedAt = wall
        fold.forgetDeadLetters(dueBy: wall - Self.deadLetterGrace)
    }
}
