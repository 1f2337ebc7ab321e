package import HTTPServer
import Primitives
import TimerCore
public import TimerLog
import TimerService
public import Webhooks
package import WireJSON

/// An event as JSON, NDJSON or a server-sent event.
package enum EventJSON {
    /// Writes the event of a record; nothing if the record is no event.
    ///
    /// - Parameter data: the data of the row that holds the record.
    static func write(_ record: LogRecord, _ data: [UInt8], _ json: inout JSONWriter) {
        guard case .event(let type, let reason, let fire) = record.content else { return }
        let definition = data.span.extracting(record.definition)
        json.beginObject()
        EventID(record.position).write("id", &json)
        json.member("type", type.name)
        TimerJSON.writeID("timer", definition, &json)
        json.member("at", instant: record.at)
        json.member("version", record.progress.version)
        TimerJSON.writeLabels(definition, &json)
        if type.showsPayload { writePayload(definition, &json) }
        if let fire {
            json.member("scheduledAt", instant: fire.scheduledAt)
            json.member("latenessUs", fire.latenessUs)
            json.member("fire", record.progress.fireCount)
            json.member("missed", fire.missed)
        }
        switch record.nextFire {
        case .at(let instant): json.member("nextFireAt", instant: instant)
        case .unplanned: json.member("nextFireAt", instant: nil)
        case .notRecorded: break
        }
        if let outcome = record.outcome { write(outcome, &json) }
        if let stalledFor = record.stalledFor {
            json.member("stalledFor", duration: stalledFor)
        }
        if let silentFor = record.silentFor {
            json.member("silentFor", duration: silentFor)
        }
        if reason != .none {
            json.member("reason", reason.name)
        }
        if !record.actor.isEmpty {
            json.key("by")
            json.string(data.span, record.actor)
        }
        if let trace = Definition.trace(definition) {
            json.key("traceparent")
            json.string(trace.parent)
        }
        json.endObject()
    }

    /// Writes the member `payload` with that of the encoded `definition`, `null` if it has none.
    static func writePayload(_ definition: Span<UInt8>, _ json: inout JSONWriter) {
        json.key("payload")
        if let payload = Definition.layout(definition)?.payload {
            json.raw(definition, payload)
        } else {
            json.null()
        }
    }

    /// Writes the outcome of a delivery.
    private static func write(_ outcome: DeliveryOutcome, _ json: inout JSONWriter) {
        EventID(outcome.delivery).write("delivery", &json)
        json.member("attempt", Int64(outcome.attempt))
        if outcome.status != 0 {
            json.member("status", Int64(outcome.status))
        }
        if let failure = outcome.failure {
            json.member("error", failure.name)
        }
        if outcome.type == .deliveryFailed {
            json.member("nextAttemptAt", instant: outcome.retryAt)
        }
    }

    /// Writes the event in a stream's format: a line, or a block of lines.
    package static func write(_ record: LogRecord, _ data: [UInt8], as format: StreamFormat, _ json: inout JSONWriter) {
        guard case .event(let type, _, _) = record.content else { return }
        if format == .sse {
            json.between("id: ")
            json.between(upTo: EventID.width) { EventID(record.position).append(to: &$0) }
            json.between("\nevent: ")
            json.between(type.name)
            json.between("\ndata: ")
        }
        write(record, data, &json)
        json.newline()
        if format == .sse { json.newline() }
    }
}

extension StreamFormat {
    /// Returns the last message of a stream whose next events, behind the id `since`, are no longer kept.
    package func gap(since: EventID) -> StreamChunk {
        let object = "{\"type\":\"gap\",\"since\":\"\(since.text)\"}"
        return StreamChunk((self == .ndjson ? "\(object)\n" : "event: gap\ndata: \(object)\n\n").utf8)
    }

    /// Returns a heartbeat: an empty line, or the newest id examined.
    package func heartbeat(_ examined: EventID) -> StreamChunk {
        self == .ndjson ? filler : StreamChunk("id: \(examined.text)\n\n".utf8)
    }

    /// Returns a heartbeat for another server, which names the newest id examined in either format.
    package func heartbeatToServer(_ examined: EventID) -> StreamChunk {
        self == .ndjson ? StreamChunk(Self.examinedPrefix + "\(examined.text)\"}\n".utf8) : heartbeat(examined)
    }

    /// The beginning of a line that names, to another server, the newest id examined.
    package static let examinedPrefix = Array(#"{"examined":""#.utf8)
}

/// Events as they are sent to webhooks.
public enum WebhookEvents {
    /// The `source` of CloudEvents.
    private static let source = "/timerd"
    /// The type of the event of a test, which no event of the log has.
    private static let testType: StaticString = "test"

    /// Returns the event of `record` with the parts that a webhook's requests show.
    ///
    /// - Parameter data: the data of the row that holds the record.
    public static func event(_ record: LogRecord, _ data: [UInt8], for webhook: WebhookConfiguration) -> WebhookEvent {
        let definition = data.span.extracting(record.definition)
        var timer: [UInt8] = []
        Definition.appendID(definition, to: &timer)
        let id = String(decoding: timer, as: UTF8.self)
        var type: StaticString = ""
        if case .event(let told, _, _) = record.content { type = told.name }
        var event = WebhookEvent(
            id: EventID(record.position).text, type: type.description, json: [], payload: nil, data: [],
            source: source, subject: id, timeMs: record.at, trace: Definition.trace(definition))
        if webhook.showsEvent {
            var json = JSONWriter()
            EventJSON.write(record, data, &json)
            event.json = json.bytes
        }
        if webhook.showsPayload, let payload = Definition.layout(definition)?.payload {
            event.payload = [UInt8](copying: definition.extracting(payload))
        }
        if webhook.showsData { event.data = self.data(record, data, timer: id) }
        return event
    }

    /// Returns the event by which the webhook of a timer is tested. The event is in no stream.
    ///
    /// - Parameters:
    ///   - id: the event's id and `webhook-id`, unlike that of any event of the log.
    ///   - view: the timer; the event is of the instant at which it was read.
    static func test(_ id: String, of view: TimerView) -> WebhookEvent {
        let definition = view.definition
        var timer: [UInt8] = []
        Definition.appendID(definition.span, to: &timer)
        let subject = String(decoding: timer, as: UTF8.self)
        let (at, version) = (view.now.wall, view.progress.version)
        let json = JSONWriter.object { json in
            json.member("id", text: id)
            json.member("type", testType)
            json.member("timer", text: subject)
            json.member("at", instant: at)
            json.member("version", version)
            TimerJSON.writeLabels(definition.span, &json)
            EventJSON.writePayload(definition.span, &json)
        }
        return WebhookEvent(
            id: id, type: testType.description, json: json,
            payload: Definition.layout(definition.span)?.payload.map { Array(definition[$0]) },
            data: [("timer", subject), ("at", RFC3339.text(at)), ("version", "\(version)")], source: source,
            subject: subject, timeMs: at)
    }

    /// Returns the event's members except labels and payload, for headers.
    private static func data(
        _ record: LogRecord, _ row: [UInt8], timer: String
    ) -> [(name: String, value: String)] {
        guard case .event(_, let reason, let fire) = record.content else { return [] }
        var data: [(name: String, value: String)] = [
            ("timer", timer), ("at", RFC3339.text(record.at)), ("version", "\(record.progress.version)"),
        ]
        if let fire {
            data.append(("scheduledAt", RFC3339.text(fire.scheduledAt)))
            data.append(("latenessUs", "\(fire.latenessUs)"))
            data.append(("fire", "\(record.progress.fireCount)"))
            data.append(("missed", "\(fire.missed)"))
        }
        if case .at(let next) = record.nextFire { data.append(("nextFireAt", RFC3339.text(next))) }
        if let stalledFor = record.stalledFor { data.append(("stalledFor", DurationText.text(stalledFor))) }
        if let silentFor = record.silentFor { data.append(("silentFor", DurationText.text(silentFor))) }
        if reason != .none { data.append(("reason", "\(reason.name)")) }
        if !record.actor.isEmpty { data.append(("by", String(decoding: row[record.actor], as: UTF8.self))) }
        if let trace = Definition.trace(row.span.extracting(record.definition)) {
            data.append(("traceparent", trace.parent))
        }
        return data
    }
}
