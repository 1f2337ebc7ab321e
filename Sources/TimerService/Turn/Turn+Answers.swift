import TimerCore
public import TimerLog

/// Requests with an idempotency key.
extension Turn {
    /// Judges a request. One that is fresh or was cut is under way until its answer is whole, or until `release`.
    ///
    /// - Parameter isDrain: whether the request drains the server, which a server that is drained takes as well.
    public func begin(
        _ request: IdempotentRequest, isDrain: Bool = false
    ) throws(ServiceError) -> IdempotencyVerdict {
        let verdict = engine.idempotency.begin(request, at: now.wall)
        switch verdict {
        case .answered, .mismatch, .inProgress: return verdict
        case .fresh, .cut: break
        }
        do throws(ServiceError) { if !isDrain { try checkAvailable() } } catch {
            release(request.key)
            throw error
        }
        return verdict
    }

    /// Returns the positions of the answer of a key, part by part; compaction moves it.
    public func positions(of key: Hash128) -> [Int64] { engine.idempotency.positions(of: key) }

    /// Records the 2xx answer of a request, in the batch of its changes. While storage fails the key is freed
    /// instead: the request's changes, if any, are lost.
    public func answer(_ request: IdempotentRequest, _ bytes: [UInt8]) {
        answer(StoredAnswer(request, answeredAt: now.wall, answer: bytes))
    }

    /// Records the 2xx answer of a request, which shows a timer, in the same way.
    public func answer(_ request: IdempotentRequest, status: Int, _ view: TimerView) {
        let shown = ShownTimer(
            status: status, eventID: view.eventID, now: view.now, progress: view.progress, kicks: view.kicks,
            workingLeft: view.workingLeft, definition: view.definition)
        answer(StoredAnswer(request, answeredAt: now.wall, form: .timer, answer: shown.encode()))
    }

    private func answer(_ answer: StoredAnswer) {
        guard !engine.storageFails else { return release(answer.request.key) }
        engine.record(answer)
    }

    /// Records what a step of a run did, in the batch of its changes: both are durable, or neither.
    ///
    /// - Parameters:
    ///   - part: the result of the step; where `isTotal`, of all steps up to it.
    ///   - isLast: whether the run is done.
    public func keep(_ part: [UInt8], of request: IdempotentRequest, isTotal: Bool, isLast: Bool) {
        guard let run = engine.idempotency.runUnderWay(of: request.key) else { return }
        let form = AnswerPart(origin: run.origin, index: isTotal ? 0 : run.parts, isLast: isLast)
        engine.record(StoredAnswer(request, answeredAt: run.began, form: .part(form), answer: part))
    }

    /// Ends a request without a whole answer: its key is free, or cut where the log holds parts of the answer.
    public func release(_ key: Hash128) {
        engine.idempotency.release(key)
        // The log may be being folded again, with the keys that were under way when that fold began.
        if engine.storageFails { engine.abandoned.append(key) }
    }
}
