import TimerCore
import TimerService
import WireJSON

/// A delivery as JSON.
enum DeliveryJSON {
    /// Writes a delivery whose event was read.
    static func write(_ entry: DeliveryEntry, _ json: inout JSONWriter) {
        guard let event = entry.event else { return }
        let standing = entry.standing
        let isDead = standing.state == .dead
        json.beginObject()
        json.key("id")
        EventID(standing.id).write(&json)
        json.key("timer")
        TimerJSON.writeID(event.definition.span, &json)
        json.member("type", event.type.name)
        json.member("at", instant: event.at)
        json.key("state")
        json.string(standing.state.name)
        json.member("attempts", Int64(standing.attempts))
        json.member("nextAttemptAt", instant: standing.state == .waiting ? standing.due : nil)
        json.member("diedAt", instant: isDead ? standing.due - Scheduler.deadLetterLifetime : nil)
        json.member("expiresAt", instant: isDead ? standing.due : nil)
        json.key("reason")
        if isDead { json.string(standing.reason.name) } else { json.null() }
        write(standing.lastAttempt, &json)
        json.key("labels")
        TimerJSON.writeLabels(event.definition.span, &json)
        if entry.hasLostTimer { json.member("timerDeleted", true) }
        json.endObject()
    }

    private static func write(_ last: LastAttempt?, _ json: inout JSONWriter) {
        json.member("lastStatus", last.flatMap { $0.status == 0 ? nil : Int64($0.status) })
        json.key("error")
        // A dead letter of format 1 does not record why there was no answer.
        if let failure = last?.failure {
            json.string(failure.cause)
        } else if let last, last.status != 0 {
            json.string("status" as StaticString)
        } else {
            json.null()
        }
        json.member("lastAttemptAt", instant: last?.at)
    }
}
