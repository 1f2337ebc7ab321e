import TimerCore
import TimerService
import WireJSON

/// A delivery as JSON.
enum DeliveryJSON {
    /// Writes a delivery whose event was read.
    static func write(_ entry: DeliveryEntry, _ json: inout JSONWriter) {
        guard let event = entry.event else { return }
        let detail = entry.detail
        let isDead = detail.state == .dead
        json.beginObject()
        EventID(detail.id).write("id", &json)
        TimerJSON.writeID("timer", event.definition.span, &json)
        json.member("type", event.type.name)
        json.member("at", instant: event.at)
        json.member("state", text: detail.state.name)
        json.member("attempts", Int64(detail.attempts))
        json.member("nextAttemptAt", instant: detail.state == .waiting ? detail.due : nil)
        json.member("diedAt", instant: isDead ? detail.due - Scheduler.deadLetterLifetime : nil)
        json.member("expiresAt", instant: isDead ? detail.due : nil)
        json.key("reason")
        if isDead { json.string(detail.reason.name) } else { json.null() }
        write(detail.lastAttempt, &json)
        TimerJSON.writeLabels(event.definition.span, &json)
        if entry.isTimerDeleted { json.member("timerDeleted", true) }
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
