import Platform
import Primitives
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// Writes the lines of an export, which `ImportLine` reads. A timer's line holds the values of a `TimerArrival`.
enum ExportLine {
    /// The version of these lines.
    static let format: Int64 = 1

    /// Draws the id of an export: 32 hexadecimal digits.
    static func drawID() -> String { Hexadecimal.text(KernelRandom.words(2)) }

    /// Writes the first line.
    static func writeHead(
        export: String, version: String, eventID: EventID, at: Int64, isDrained: Bool, showsSecrets: Bool,
        versionFloor: Int64, _ json: inout JSONWriter
    ) {
        json.beginObject()
        json.member("export", text: export)
        json.member("format", format)
        eventID.write("eventId", &json)
        json.member("at", instant: at)
        json.member("drained", isDrained)
        json.member("secrets", showsSecrets)
        json.member("versionFloor", versionFloor)
        json.member("server", text: version)
        json.endObject()
        json.newline()
    }

    /// Writes a timer as it is.
    ///
    /// - Parameters:
    ///   - isHeld: whether the timer is imported as idle for now, since its deliveries and a second line of it
    ///     follow.
    ///   - isAgain: whether a line about the timer came before.
    static func write(_ view: TimerView, isHeld: Bool, isAgain: Bool, showsSecrets: Bool, _ json: inout JSONWriter) {
        json.beginObject()
        json.key("timer")
        write(view.definition.span, showsSecrets: showsSecrets, &json)
        let layout = Definition.checkedLayout(view.definition.span)
        json.key("state")
        let arrival = TimerArrival(view.progress, view.kicks, layout.rules, createdAt: layout.createdAt, at: view.now)
        write(arrival, layout.rules.calendar?.spent ?? SpentInstants(), &json)
        if isHeld { json.member("held", true) }
        if isAgain { json.member("again", true) }
        json.endObject()
        json.newline()
    }

    private static func write(_ definition: Span<UInt8>, showsSecrets: Bool, _ json: inout JSONWriter) {
        guard let layout = Definition.layout(definition) else { return json.null() }
        json.beginObject()
        TimerJSON.writeID("id", definition, &json)
        TimerJSON.writeRules(layout.rules, &json)
        TimerJSON.writeLabels(definition, &json)
        if let payload = layout.payload {
            json.key("payload")
            json.raw(definition, payload)
        }
        if layout.webhook != nil {
            WebhookJSON.write(
                definition, layout, isStopped: false, secrets: showsSecrets ? .shown : .masked, &json)
        }
        json.endObject()
    }

    private static func write(_ arrival: TimerArrival, _ spent: SpentInstants, _ json: inout JSONWriter) {
        let progress = arrival.progress
        json.beginObject()
        json.member("state", progress.state.name)
        json.member("version", progress.version)
        json.member("createdAt", instant: arrival.createdAt)
        json.member("updatedAt", instant: progress.updatedAt)
        switch arrival.due {
        case .at(let instant): json.member("dueAt", instant: instant)
        case .ahead(let milliseconds): json.member("dueInMs", milliseconds)
        case .left(let microseconds): json.member("leftUs", microseconds)
        case .none: break
        }
        if progress.lastFiredAt != 0 { json.member("lastFiredAt", instant: progress.lastFiredAt) }
        for (name, count) in [
            ("fireCount", progress.fireCount), ("missedCount", progress.missedCount),
            ("firesSinceActivation", progress.firesSinceActivation),
        ] as [(StaticString, Int64)] where count != 0 {
            json.member(name, count)
        }
        for (name, flag) in ImportLine.flags where progress.flags.contains(flag) { json.member(name, true) }
        if !spent.isEmpty { TimerJSON.write("unspent", spent.bounds, &json) }
        if let kicks = arrival.kicks {
            json.member("kickCount", kicks.kickCount)
            if kicks.silentSince != 0 {
                json.member(kicks.kickCount > 0 ? "lastKickedAt" : "silentSince", instant: kicks.silentSince)
            }
            if kicks.graceFrom != 0 { json.member("graceFrom", instant: kicks.graceFrom) }
            if kicks.sharedGrace != 0 { json.member("sharedGrace", kicks.sharedGrace) }
            switch arrival.stalledSince {
            case .at(let instant): json.member("stalledSince", instant: instant)
            case .ahead(let milliseconds): json.member("stalledForMs", -milliseconds)
            case .left, .none: break
            }
        }
        json.endObject()
    }

    /// Writes a delivery with its event.
    static func write(_ departing: Replayer.ExportedEvent, showsSecrets: Bool, to bytes: inout [UInt8]) {
        let delivery = departing.delivery
        var json = JSONWriter()
        json.beginObject()
        json.beginObject("delivery")
        json.member("state", StaticName.of(delivery.state))
        json.member("attempts", Int64(delivery.attempts))
        json.member("createdAt", instant: Definition.createdAt(departing.definition.span))
        if delivery.state == .waiting || delivery.state == .dead { json.member("dueAt", instant: delivery.due) }
        if delivery.state == .dead, delivery.reason != .attempts { json.member("reason", delivery.reason.name) }
        if let redrivenAt = delivery.redrivenAt { json.member("redrivenAt", instant: redrivenAt) }
        if let last = delivery.lastAttempt {
            json.member("lastAttemptAt", instant: last.at)
            json.member("lastStatus", Int64(last.status))
            if let failure = last.failure { json.member("error", failure.name) }
        }
        json.endObject()
        json.key("event")
        var event = departing.event
        let data = departing.definition + departing.actor
        event.definition = 0..<departing.definition.count
        event.actor = event.definition.upperBound..<data.count
        EventJSON.write(event, data, &json)
        if delivery.slot == nil && (delivery.state != .dead || departing.will != nil) {
            json.beginObject("deleted")
            json.member("takesDeliveries", delivery.will?.takesDeliveries ?? true)
            json.key("timer")
            let definition = departing.will ?? departing.definition
            write(definition.span, showsSecrets: showsSecrets, &json)
            json.endObject()
        }
        json.endObject()
        json.newline()
        bytes += json.bytes
    }

    private enum StaticName {
        static func of(_ state: DeliveryState) -> StaticString {
            switch state {
            case .dead: "dead"
            case .waiting: "waiting"
            default: "pending"
            }
        }
    }

    /// Writes the last line.
    static func writeEnd(lines: Int, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("end", true)
        json.member("lines", Int64(lines))
        json.endObject()
        json.newline()
    }
}
