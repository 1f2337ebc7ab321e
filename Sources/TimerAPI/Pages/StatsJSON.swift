import Platform
import TimerCore
import TimerService
import WireJSON

/// Writes the server's figures as the members of a JSON object.
enum StatsJSON {
    /// Writes the figures at a glance; `uptime` is in milliseconds.
    static func write(_ context: APIContext, uptime: Int64, _ json: inout JSONWriter) {
        let service = context.service
        let counters = service.snapshotCounters()
        json.member("version", text: context.configuration.version)
        json.member("uptime", duration: uptime)
        json.beginObject("timers")
        for state in TimerState.allCases { json.member(state.name, Int64(counters.timers[Int(state.rawValue)])) }
        json.endObject()
        let numbers: [(StaticString, Int)] = [
            ("fires", counters.fires.reduce(0, +)), ("events", counters.events.reduce(0, +)),
            ("streams", context.streamCount), ("pendingDeliveries", counters.pendingDeliveries),
            ("deadDeliveries", counters.deadDeliveries), ("idempotencyKeys", counters.idempotencyKeys),
            ("logBytes", service.logBytes), ("residentBytes", ProcessUsage.residentBytes()),
        ]
        for (name, value) in numbers { json.member(name, Int64(value)) }
        json.member("drained", service.isDrained)
        EventID(service.feed.head).write("eventId", &json)
    }

    /// Writes how many timers are due when.
    static func write(_ count: DueCount, _ json: inout JSONWriter) {
        json.member("from", instant: count.from)
        json.member("until", instant: count.from + count.span)
        json.beginArray("counts")
        for timers in count.counts { json.integer(Int64(timers)) }
        json.endArray()
        json.member("overdue", Int64(count.overdue))
        json.member("later", Int64(count.later))
    }

    /// Writes a point of the history as an object.
    static func write(_ point: StatsPoint, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("at", instant: point.at)
        for (name, value) in point.members { json.member(name, value) }
        json.endObject()
    }
}
