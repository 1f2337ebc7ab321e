import TestSupport
import TimerLog

@testable import TimerCore
@testable import TimerService

/// Requests with idempotency keys, which may be under way for a while, and come again and again.
extension Simulation {
    /// Begins, ends or repeats a request that makes a timer of its own under a key.
    func createOnce() throws {
        let number = UInt64.random(in: 0..<6, using: &random)
        let mayStay = random.chance(oneIn: 3)
        let mayEnd = random.chance(oneIn: 2)
        note("create key\(number) with a key")
        let failure: (any Error)? = server.engine.turn { turn in
            do {
                if openKeys.contains(number) && mayEnd { return try end(number, turn) }
                guard try begin(number, turn) else { return nil }
                if mayStay { openKeys.insert(number) } else { try end(number, turn) }
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    /// Notes which answers may be forgotten by now, in every model that may become the current one again: a compaction
    /// meanwhile forgets them, even if the calendar is set back later.
    func ageKeys(_ now: Now) {
        model.ageKeys(now)
        durable.ageKeys(now)
        for index in foldsToCome.indices { foldsToCome[index].ageKeys(now) }
    }

    /// Begins a request under a key. Returns whether the request is to be carried out.
    private func begin(_ number: UInt64, _ turn: borrowing Turn) throws -> Bool {
        ageKeys(turn.now)
        let verdict: IdempotencyVerdict
        do throws(ServiceError) { verdict = try turn.begin(.numbered(number)) } catch {
            try promise(!server.isOpen, "key\(number) is refused: \(error)")
            return false
        }
        if openKeys.contains(number) {
            try promise(verdict == .inProgress, "key\(number) is \(verdict) while its request is under way")
            reached.insert(.keyInProgress)
            return false
        }
        let known = model.answered[number]
        switch verdict {
        case .fresh: try promise(known?.mayBeGone ?? true, "key\(number) is fresh although it was answered")
        case .answered: try promise(known != nil, "key\(number) was never answered")
        case .mismatch, .inProgress, .cut: throw BrokenPromise("key\(number) is \(verdict)")
        }
        return verdict == .fresh
    }

    /// Makes the timer and answers the request; a refusal releases the key.
    @discardableResult
    private func end(_ number: UInt64, _ turn: borrowing Turn) throws -> (any Error)? {
        openKeys.remove(number)
        let id = "key\(number)"
        var definition = RandomRules.definition(id, TimerRules(.after(3_000_000_000_000)))
        let (step, _) = model.create(id, definition, turn.now, uptime: uptime)
        guard server.isOpen, let step else {
            turn.release(IdempotentRequest.numbered(number).key)
            return nil
        }
        _ = try turn.create(serverKey(id), definition: &definition)
        try acceptAll(step)
        turn.answer(.numbered(number), [1, 2, 3])
        _ = try unseen()
        model.answered[number] = (turn.now.wall, false)
        show(id, turn)
        return nil
    }
}
