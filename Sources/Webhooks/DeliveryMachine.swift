public import TimerCore

/// What happens to a delivery.
public enum DeliveryEvent: Sendable, Equatable {
    /// Its turn has come and the request goes out.
    case started
    /// The receiver answered; `retryAfterMs` is what ``RetryAfter`` made of its `Retry-After`.
    case answered(status: Int, retryAfterMs: Int64?)
    /// No answer came.
    case failed(DeliveryFailure)
    /// A client wants a dead letter tried again.
    case redriven
    /// Too much is pending, and this is the oldest.
    case overflowed
    /// A client deleted the delivery or its timer.
    case dropped

    /// The rows of the transition table.
    public enum Kind: Int, Sendable, CaseIterable {
        case started, answered, failed, redriven, overflowed, dropped
    }

    /// Which row of the table the event is judged by.
    public var kind: Kind {
        switch self {
        case .started: .started
        case .answered: .answered
        case .failed: .failed
        case .redriven: .redriven
        case .overflowed: .overflowed
        case .dropped: .dropped
        }
    }
}

/// Why a delivery is dead.
public enum DeadReason: UInt8, Sendable, CaseIterable {
    /// Its last attempt failed.
    case attempts = 0
    /// Too many deliveries were pending.
    case backlog = 1

    /// The name on the wire.
    public var name: String {
        switch self {
        case .attempts: "attempts"
        case .backlog: "backlog"
        }
    }
}

/// What became of a delivery when an attempt, or its hope for one, ended.
public enum AttemptOutcome: Sendable, Equatable {
    /// The receiver took it (2xx).
    case delivered
    /// Another attempt is due that many milliseconds after this one's end.
    case retry(afterMs: Int64)
    /// Given up.
    case dead(DeadReason)
    /// The receiver is gone for good (410): the timer's webhook stops.
    case stop

    /// The state it leads to.
    public var state: DeliveryState {
        switch self {
        case .delivered: .delivered
        case .retry: .waiting
        case .dead: .dead
        case .stop: .stopped
        }
    }
}

/// The life of one delivery: pure, so that server, recovery and tests run the same one.
public struct DeliveryMachine: Sendable, Equatable {
    /// What an event does in a state.
    public enum Transition: Sendable, Equatable {
        /// The event can't happen there; nothing changes.
        case illegal
        /// The delivery goes there.
        case go(DeliveryState)
        /// ``outcome(of:attempt:policy:draw:)`` decides: delivered, waiting, dead or stopped.
        case judge
        /// The delivery is no more.
        case forget
    }

    /// What an event did.
    public enum Step: Sendable, Equatable {
        /// Attempt number `attempt`, counted from 1, is under way.
        case started(attempt: Int)
        /// An attempt ended, or the delivery died waiting for one.
        case ended(AttemptOutcome)
        /// It waits for its turn, with all attempts before it.
        case requeued
        /// Nothing of it is to be kept.
        case forgotten
    }

    /// Where it stands.
    public private(set) var state: DeliveryState
    /// Attempts started since it was made or redriven.
    public private(set) var attempts: Int

    /// A delivery as it was made, or as it was recorded. An attempt that was under way when a process ended is lost:
    /// such a delivery starts as what it was before.
    public init(state: DeliveryState = .pending, attempts: Int = 0) {
        self.state = state
        self.attempts = attempts
    }

    /// Does `event`; nil where it is illegal, and then nothing has changed.
    ///
    /// - Parameters:
    ///   - policy: as it stands now, which may have changed since the delivery was made.
    ///   - draw: see ``draw(id:attempt:)``.
    public mutating func apply(_ event: DeliveryEvent, policy: RetryPolicy, draw: UInt64) -> Step? {
        switch Self.transition(event.kind, in: state) {
        case .illegal: return nil
        case .forget: return .forgotten
        case .judge:
            let outcome = Self.outcome(of: event, attempt: attempts, policy: policy, draw: draw)
            state = outcome.state
            return .ended(outcome)
        case .go(let next):
            state = next
            switch next {
            case .inFlight:
                attempts += 1
                return .started(attempt: attempts)
            case .dead: return .ended(.dead(.backlog))
            case .pending, .waiting, .delivered, .stopped:
                attempts = 0
                return .requeued
            }
        }
    }

    /// What `kind` does in `state`.
    public static func transition(_ kind: DeliveryEvent.Kind, in state: DeliveryState) -> Transition {
        table[kind.rawValue][Int(state.rawValue)]
    }

    // Rows as `DeliveryEvent.Kind`, columns as `DeliveryState`.
    private static let table: [[Transition]] = [
        // pending, in flight, waiting, delivered, dead, stopped
        [.go(.inFlight), .illegal, .go(.inFlight), .illegal, .illegal, .illegal],  // started
        [.illegal, .judge, .illegal, .illegal, .illegal, .illegal],  // answered
        [.illegal, .judge, .illegal, .illegal, .illegal, .illegal],  // failed
        [.illegal, .illegal, .illegal, .illegal, .go(.pending), .illegal],  // redriven
        [.go(.dead), .illegal, .go(.dead), .illegal, .illegal, .illegal],  // overflowed
        [.forget, .forget, .forget, .forget, .forget, .forget],  // dropped
    ]

    /// How attempt `attempt`, counted from 1, ended.
    ///
    /// 2xx delivers and 410 stops, the last attempt's too. All else is tried again until attempts are out: any other
    /// status, redirects among them, and no answer at all. 429 and 503 may say when, see
    /// ``RetryPolicy/retryAfterMs(_:draw:)``.
    public static func outcome(
        of event: DeliveryEvent, attempt: Int, policy: RetryPolicy, draw: UInt64
    ) -> AttemptOutcome {
        var askedMs: Int64?
        if case .answered(let status, let retryAfterMs) = event {
            if (200...299).contains(status) { return .delivered }
            if status == 410 { return .stop }
            if status == 429 || status == 503 { askedMs = retryAfterMs }
        }
        if attempt >= policy.maxAttempts { return .dead(.attempts) }
        if let askedMs { return .retry(afterMs: policy.retryAfterMs(askedMs, draw: draw)) }
        return .retry(afterMs: policy.backoffMs(attempt: attempt, draw: draw))
    }

    /// Evenly spread bits that are the same for the same delivery and attempt, in every process: jitter that needs no
    /// memory (FNV-1a, then the finaliser of SplitMix64).
    public static func draw(id: String, attempt: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = hash &+ UInt64(truncatingIfNeeded: attempt) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
        return hash ^ hash >> 31
    }
}
