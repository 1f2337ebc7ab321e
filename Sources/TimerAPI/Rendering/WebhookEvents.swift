import TimerCore
public import TimerLog
public import Webhooks
import WireJSON

/// Events as they are sent to webhooks.
public enum WebhookEvents {
    /// The `source` of CloudEvents.
    private static let source = "/timerd"

    /// Returns the event of `record`.
    ///
    /// - Parameter data: the data of the row that holds the record.
    public static func event(_ record: LogRecord, _ data: [UInt8]) -> WebhookEvent {
        let definition = Array(data[record.definition])
        var json = JSONWriter()
        EventJSON.write(record, data, &json)
        var timer: [UInt8] = []
        Definition.appendID(definition.span, to: &timer)
        let id = String(decoding: timer, as: UTF8.self)
        var type: EventType?
        if case .event(let told, _, _) = record.content { type = told }
        return WebhookEvent(
            id: EventID(record.position).text, type: "\(type?.name ?? "")", json: json.bytes,
            payload: Definition.layout(definition.span)?.payload.map { Array(definition[$0]) },
            data: self.data(record, timer: id), source: source, subject: id, timeMs: record.at)
    }

    /// Returns the event's members except labels and payload, for headers.
    private static func data(_ record: LogRecord, timer: String) -> [(name: String, value: String)] {
        guard case .event(_, let reason, let fire) = record.content else { return [] }
        var data = [("timer", timer), ("at", instant(record.at)), ("version", "\(record.progress.version)")]
        if let fire {
            data.append(("scheduledAt", instant(fire.scheduledAt)))
            data.append(("latenessUs", "\(fire.latenessUs)"))
            data.append(("fire", "\(record.progress.fireCount)"))
            data.append(("missed", "\(fire.missed)"))
        }
        if case .at(let next) = record.nextFire { data.append(("nextFireAt", instant(next))) }
        if let stalledFor = record.stalledFor { data.append(("stalledFor", duration(stalledFor))) }
        if let silentFor = record.silentFor { data.append(("silentFor", duration(silentFor))) }
        if reason != .none { data.append(("reason", "\(reason.name)")) }
        return data
    }

    private static func duration(_ milliseconds: Int64) -> String {
        var text: [UInt8] = []
        DurationText.append(milliseconds, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func instant(_ milliseconds: Int64) -> String {
        var text: [UInt8] = []
        RFC3339.append(milliseconds, to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
