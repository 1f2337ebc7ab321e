public import TimerCore

/// Judges attempts at deliveries.
public enum AttemptJudge {
    /// Returns the outcome of attempt `attempt`, counted from 1.
    ///
    /// 2xx delivers and 410 stops, also at the last attempt. A status of ``RetryPolicy/giveUpOn`` ends the
    /// delivery. Anything else is tried again until no attempts are left: any other status, redirects among them,
    /// and no answer at all. 429 and 503 may say when, see ``RetryPolicy/retryAfterMs(_:draw:)``.
    public static func outcome(
        of result: AttemptResult, attempt: Int, policy: RetryPolicy, draw: UInt64
    ) -> AttemptOutcome {
        var askedMs: Int64?
        if case .answered(let status, let retryAfterMs) = result {
            if (200...299).contains(status) { return .delivered }
            if status == 410 { return .stop }
            if policy.giveUpOn.contains(status) { return .rejected }
            if status == 429 || status == 503 { askedMs = retryAfterMs }
        }
        if attempt >= policy.maxAttempts { return .dead }
        if let askedMs { return .retry(afterMs: policy.retryAfterMs(askedMs, draw: draw)) }
        return .retry(afterMs: policy.backoffMs(attempt: attempt, draw: draw))
    }

    /// Returns evenly spread bits that are the same for the same delivery and attempt in every process, so that
    /// jitter needs no memory (FNV-1a, then the finaliser of SplitMix64).
    public static func draw(id: String, attempt: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = hash &+ UInt64(truncatingIfNeeded: attempt) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
        return hash ^ hash >> 31
    }
}

/// The end of an attempt: an answer or a failure.
public enum AttemptResult: Sendable, Equatable {
    /// The receiver answered; `retryAfterMs` is its `Retry-After` as ``RetryAfter`` reads it.
    case answered(status: Int, retryAfterMs: Int64?)
    /// No answer came.
    case failed(DeliveryFailure)
}

/// The consequence of an attempt for its delivery.
public enum AttemptOutcome: Sendable, Equatable {
    /// The receiver took the delivery (2xx).
    case delivered
    /// Another attempt is due this many milliseconds after this one's end.
    case retry(afterMs: Int64)
    /// The attempt was the last.
    case dead
    /// The receiver's status is one after which there is no other attempt.
    case rejected
    /// The receiver is gone for good (410): the timer's webhook stops.
    case stop
}
