import TimerCore
import TimerService
import WireJSON

/// A delivery as JSON.
enum DeliveryJSON {
    /// Writes a delivery whose event was read.
    static func write(_ entry: DeliveryReading.Entry, _ json: inout JSONWriter) {
        guard let event = entry.event else { return }
        let standing = entry.standing
        let isDead = standing.state == .dead
        json.beginObject()
        json.key("id")
        EventID.write(standing.id, &json)
        json.key("timer")
        TimerJSON.writeID(event.definition.span, &json)
        json.key("type")
        json.string(event.type.name)
        json.key("at")
        json.instant(event.at)
        json.key("state")
        json.string(standing.state.name)
        json.key("attempts")
        json.integer(Int64(standing.attempts))
        write("nextAttemptAt", standing.state == .waiting ? standing.due : nil, &json)
        write("diedAt", isDead ? standing.due - Scheduler.deadLetterLifetime : nil, &json)
        write("expiresAt", isDead ? standing.due : nil, &json)
        json.key("reason")
        if isDead { json.string(standing.reason.name) } else { json.null() }
        json.key("lastStatus")
        if isDead && standing.status != 0 { json.integer(Int64(standing.status)) } else { json.null() }
        json.key("labels")
        TimerJSON.writeLabels(event.definition.span, &json)
        json.endObject()
    }

    private static func write(_ name: StaticString, _ instant: Int64?, _ json: inout JSONWriter) {
        json.key(name)
        if let instant { json.instant(instant) } else { json.null() }
    }
}
