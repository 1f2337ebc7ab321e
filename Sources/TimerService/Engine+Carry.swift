import Platform
import TimerCore
import TimerLog

/// Records that are no events: answers, and what compaction carries from old rows into new ones.
extension Engine {
    /// Writes the record of an answer and remembers where it stands.
    func record(_ answer: StoredAnswer) {
        let position = takePosition()
        RecordCodec.append(answer, to: &batch)
        idempotency.complete(
            LogFold.AnswerPlace(
                key: answer.key, fingerprint: answer.fingerprint, answeredAt: answer.answeredAt, position: position,
                byteCount: answer.answer.count))
    }

    /// What a row that is to be deleted holds that may still be needed.
    struct Carried {
        /// Timers whose definition a record of the row holds: name and position of the record.
        var bases: [(key: TimerKey, position: Int64)] = []
        /// Answers.
        var answers: [(answer: StoredAnswer, position: Int64)] = []
        /// How many entries there are: bases, then answers.
        var count: Int { bases.count + answers.count }
    }

    /// Writes anew what of a row's records is still needed, one bounded step: afterwards nothing rests on the part of
    /// `carried` before the returned index.
    ///
    /// - Returns: how many entries (bases, then answers) are done; nil when storage takes no writes now.
    func carry(_ carried: Carried, from start: Int) -> Int? {
        lock.withLock {
            guard availability == .open else { return nil }
            let end = min(carried.count, start + EngineConfiguration.stepLimit)
            for index in start..<end {
                if index < carried.bases.count {
                    carryBase(carried.bases[index].key, carried.bases[index].position)
                } else {
                    let (answer, position) = carried.answers[index - carried.bases.count]
                    if idempotency.holds(answer.key, at: position) { record(answer) }
                }
            }
            afterChanges(instant())
            return end
        }
    }

    /// Writes anew what deletions in old rows say. Returns false when storage takes no writes now.
    func carryVersionFloor() -> Bool {
        lock.withLock {
            guard availability == .open else { return false }
            recordVersionFloor()
            afterChanges(instant())
            return true
        }
    }

    private func carryBase(_ key: TimerKey, _ position: Int64) {
        guard let slot = scheduler.find(key), scheduler.base(slot) == position else { return }
        let fresh = takePosition()
        let progress = scheduler.progress(slot)
        let lastEvent = scheduler.lastEvent(slot)
        scheduler.withDefinition(slot) { definition in
            RecordCodec.appendSnapshot(progress, lastEvent: lastEvent, definition: definition, to: &batch)
        }
        _ = scheduler.stamp(slot, position: fresh, isBase: true, isEvent: false)
    }

    /// Writes the floor of versions, which deleted timers' records no longer tell once they are gone.
    func recordVersionFloor() {
        _ = takePosition()
        RecordCodec.appendVersionFloor(scheduler.versionFloor, at: instant().wall, to: &batch)
    }
}
