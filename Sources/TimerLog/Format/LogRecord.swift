public import TimerCore

/// One record of the log, decoded. Records are results, never commands: folding them decides nothing.
public struct LogRecord: Sendable, Equatable {
    /// What a record says.
    public enum Content: Sendable, Equatable {
        /// Something happened to a timer.
        case event(EventType, EventReason, FireDetail?)
        /// A timer as it is, written anew so that older rows can go; `lastEvent` is the position of its newest event.
        case snapshot(lastEvent: Int64)
        /// The answer to a request with an idempotency key, or a part of it.
        case answer(StoredAnswer)
        /// A watchdog was kicked: the top half of the hash of its name, and the position of the record that holds its
        /// definition.
        case kick(hash: UInt32, base: Int64)
        /// Kicks stood here; records up to that position stand for them.
        case condensed(restingOn: Int64)
        /// A delivery as it is: changed by a client, or written anew, with its event, so that older rows can go. Its
        /// slot says only whether it belongs to a timer.
        indirect case delivery(DeliveryStanding, event: LogRecord?)
        /// A deleted timer's definition as it was then: by it the deliveries go that outlived the timer.
        case will(takesDeliveries: Bool)
        /// The versions of deleted timers end here: new timers start above.
        case versionFloor(Int64)
        /// What may have been shown although the log does not hold it; the newest one counts.
        case mark(HighWaterMark)
    }

    /// Where it stands in the log; also the id of its event.
    public var position: Int64
    /// Position of the same timer's event before, 0 for none.
    public var previous: Int64 = 0
    /// Wall milliseconds at which it was decided.
    public var at: Int64 = 0
    /// What it says.
    public var content = Content.condensed(restingOn: 0)
    /// The timer's progress right after, for events, snapshots and kicks.
    public var progress = TimerProgress()
    /// The rest of a watchdog's progress.
    public var kicks: KickProgress?
    /// Of a `recovered`: milliseconds from the first alarm to the kick.
    public var stalledFor: Int64?
    /// Of a `recovered`: milliseconds since the kick before; nil where the record does not say.
    public var silentFor: Int64?
    /// When the next fire was planned once the event's step was taken.
    public var nextFire = NextFire.unsaid
    /// What became of a delivery, for its events.
    public var outcome: DeliveryOutcome?
    /// Whether the event is to be delivered to the timer's webhook.
    public var owesDelivery = false
    /// Where in the row's data the record lies, without its frame.
    public var body: Range<Int> = 0..<0
    /// Where in the row's data the definition lies: whole, or its prefix.
    public var definition: Range<Int> = 0..<0
    /// Whether `definition` is the whole of it.
    public var isWhole = false

    /// Whether clients see it in streams.
    public var isEvent: Bool {
        if case .event = content { return true }
        return false
    }
}

/// How far positions and versions went, or may have gone, beyond what the log holds.
///
/// Written ahead where changes are shown before they are on disk: what may be shown so lies at or below a mark that is.
public struct HighWaterMark: Sendable, Equatable {
    /// The greatest position.
    public var position: Int64
    /// The greatest version of any timer.
    public var version: Int64

    /// Makes a mark; see the members.
    public init(position: Int64 = 0, version: Int64 = 0) {
        self.position = position
        self.version = version
    }
}

/// What a record says about a timer's next fire.
public enum NextFire: Sendable, Equatable {
    /// Nothing: it is of another kind, or of the first format.
    case unsaid
    /// That none is planned.
    case unplanned
    /// The wall instant, in milliseconds.
    case at(Int64)
}

/// What is kept for requests that repeat an idempotency key: a first answer, or a part of one.
public struct StoredAnswer: Sendable, Equatable {
    /// What the bytes of an answer are.
    public enum Form: Sendable, Equatable {
        /// A response, as its writer encoded it.
        case response
        /// A timer as it was shown: see `ShownTimer`.
        case timer
        /// What became of one step of a run, as its writer encoded it.
        case part(AnswerPart)
    }

    /// Hash of the key.
    public var key: Hash128
    /// Hash of the request: method, target and body.
    public var fingerprint: Hash128
    /// Wall milliseconds of the first answer, for a part of the run's beginning; the key is forgotten 24 hours later.
    public var answeredAt: Int64
    /// What `answer` is.
    public var form: Form
    /// The answer's bytes.
    public var answer: [UInt8]

    /// Makes an answer; see the members.
    public init(
        key: Hash128, fingerprint: Hash128, answeredAt: Int64, form: Form = .response, answer: [UInt8]
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.answeredAt = answeredAt
        self.form = form
        self.answer = answer
    }
}

/// Which part of a run's answer a record holds. Its steps are done once each: it stands in the batch of their changes.
public struct AnswerPart: Sendable, Equatable {
    /// Position at which the run's first part was written; 0 for the position of this one. It tells the runs of a key
    /// apart.
    public var origin: Int64
    /// How many parts stand before it. A later record of the same number takes its place.
    public var index: Int
    /// Whether the run is done.
    public var isLast: Bool

    /// Most parts of a run.
    public static let most = 1 << 16

    /// Makes a part; see the members.
    public init(origin: Int64, index: Int, isLast: Bool) {
        self.origin = origin
        self.index = index
        self.isLast = isLast
    }
}

/// 128 bits of a keyed hash.
public struct Hash128: Sendable, Hashable {
    /// One half.
    public var high: UInt64
    /// The other.
    public var low: UInt64

    /// Makes a hash of two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The hash of `bytes` under the key of `siphash`.
    public init(_ bytes: Span<UInt8>, siphash: SipHash, tweak: UInt64) {
        high = siphash.hash(bytes, tweak: tweak)
        low = siphash.hash(bytes, tweak: ~tweak)
    }
}
