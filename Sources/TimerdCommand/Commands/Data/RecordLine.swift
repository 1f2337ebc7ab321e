import Primitives
import TimerAPI
import TimerCore
import TimerLog
import WireJSON

/// A record of the log as a line of JSON, for people and `jq`.
enum RecordLine {
    /// Appends the line of `record`, which is stored in `row`.
    ///
    /// - Parameter showsSecrets: whether webhooks' secrets and the values of their secret headers are shown as
    ///   they are.
    static func append(
        _ record: LogRecord, _ row: LogRow, showsSecrets: Bool, to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("position", text: String(record.position))
        switch record.content {
        case .event(let type, let reason, let fire):
            head(record, "event", &writer)
            writer.member("type", type.name)
            if reason != .none {
                writer.member("reason", reason.name)
            }
            if let fire { append(fire, &writer) }
            append(withDetailsOf: record, &writer)
            by(record.actor.isEmpty ? nil : Array(row.data[record.actor]), &writer)
            append(traceOf: row.data.span.extracting(record.definition), &writer)
            writer.member("previous", text: String(record.previous))
            if let outcome = record.outcome {
                append(outcome, &writer)
                TimerJSON.writeID("timer", row.data.span.extracting(record.definition), &writer)
            } else {
                timer(record, row, showsSecrets: showsSecrets, &writer)
            }
        case .snapshot(let lastEvent):
            head(record, "snapshot", &writer)
            writer.member("lastEvent", text: String(lastEvent))
            append(traceOf: row.data.span.extracting(record.definition), &writer)
            timer(record, row, showsSecrets: showsSecrets, &writer)
        case .answer(let answer): append(answer, record, &writer)
        case .kick(let hash, let base):
            head(record, "kick", &writer)
            writer.member("hash", text: String(hash, radix: 16))
            writer.member("base", text: String(base))
            append(record, &writer)
        case .delivery(let delivery, _):
            head(record, "delivery", &writer)
            append(delivery, &writer)
            TimerJSON.writeID("timer", row.data.span.extracting(record.definition), &writer)
        case .will(let takesDeliveries):
            will(record, row, takesDeliveries: takesDeliveries, showsSecrets: showsSecrets, &writer)
        case .condensed(let last):
            head(record, "condensed", &writer)
            writer.member("restingOn", text: String(last))
        case .versionFloor(let floor):
            head(record, "versionFloor", &writer)
            writer.member("floor", floor)
        case .mark(let mark):
            head(record, "mark", &writer)
            writer.member("through", text: String(mark.position))
            writer.member("version", mark.version)
        case .drain(let isDrained, let actor):
            head(record, "drain", &writer)
            writer.member("drained", isDrained)
            by(actor?.name, &writer)
        case .importProgress(let progress):
            append(progress, record, &writer)
        case .key(let id, let key, let grantor):
            append(id, key, by: grantor, record, &writer)
        case .calendar(let calendar):
            append(calendar.name, version: calendar.version, by: calendar.changedBy, record, &writer)
            CalendarJSON.writeContent(calendar.content, &writer)
        case .deletedCalendar(let name, let version, let actor):
            append(name, version: version, by: actor, record, &writer)
            writer.member("deleted", true)
        }
        writer.endObject()
        writer.newline()
        output += writer.bytes
    }

    private static func append(_ answer: StoredAnswer, _ record: LogRecord, _ writer: inout JSONWriter) {
        head(record, name(of: answer.form), &writer)
        writer.member("key", text: Hexadecimal.text([answer.request.key.high, answer.request.key.low]))
        if case .part(let part) = answer.form {
            writer.member("origin", text: String(part.origin))
            writer.member("part", Int64(part.index))
            writer.member("isLast", part.isLast)
        }
        writer.member("answeredAt", instant: answer.answeredAt)
        writer.member("bytes", Int64(answer.answer.count))
        by(answer.request.principal.map { Array($0.text.utf8) }, &writer)
    }

    private static func append(_ progress: ImportProgress, _ record: LogRecord, _ writer: inout JSONWriter) {
        head(record, "import", &writer)
        writer.member("export", text: Hexadecimal.text([progress.export.high, progress.export.low]))
        writer.member("part", Int64(progress.part))
        writer.member("lines", Int64(progress.lines))
        writer.member("isWhole", progress.isWhole)
        writer.member("isLast", progress.isLast)
        by(progress.by?.name, &writer)
    }

    /// Writes the name of the actor, if there is one.
    private static func by(_ name: [UInt8]?, _ writer: inout JSONWriter) {
        guard let name else { return }
        writer.key("by")
        writer.string(name)
    }

    /// Writes the trace context that the definition, or the prefix of one, keeps.
    private static func append(traceOf definition: Span<UInt8>, _ writer: inout JSONWriter) {
        guard let trace = Definition.trace(definition) else { return }
        writer.key("traceparent")
        writer.string(trace.parent)
        if trace.state.isEmpty { return }
        writer.key("tracestate")
        writer.string(trace.state)
    }

    /// Writes the record of an access key. Its secrets' hashes are left out.
    private static func append(
        _ id: KeyID, _ key: AccessKey?, by grantor: KeyGrantor, _ record: LogRecord, _ writer: inout JSONWriter
    ) {
        head(record, "key", &writer)
        writer.key("key")
        writer.string(id.text)
        switch grantor {
        case .nobody: break
        case .token: writer.member("by", "token")
        case .key(let id):
            writer.key("by")
            writer.string(id.text)
        }
        guard let key else { return writer.member("revoked", true) }
        KeyJSON.writeMembers(key, &writer)
        writer.member("lastUsedAt", instant: key.lastUsedAt)
        if let older = key.older { writer.member("olderSecretUntil", instant: older.until) }
    }

    /// Writes the members that the record of a calendar has, whether or not the calendar is deleted.
    private static func append(
        _ name: CalendarName, version: Int64, by actor: Actor?, _ record: LogRecord, _ writer: inout JSONWriter
    ) {
        head(record, "calendar", &writer)
        writer.member("calendar", text: name.bytes)
        writer.member("version", version)
        by(actor?.name, &writer)
    }

    /// Writes the record of a deleted timer: its definition at the time of the deletion.
    private static func will(
        _ record: LogRecord, _ row: LogRow, takesDeliveries: Bool, showsSecrets: Bool, _ writer: inout JSONWriter
    ) {
        head(record, "will", &writer)
        let definition = row.data.span.extracting(record.definition)
        TimerJSON.writeID("timer", definition, &writer)
        TimerJSON.writeLabels(definition, &writer)
        if let layout = Definition.layout(definition) {
            append(layout, definition, isStopped: !takesDeliveries, showsSecrets: showsSecrets, &writer)
        }
    }

    private static func name(of form: StoredAnswer.Form) -> StaticString {
        switch form {
        case .response: "answer"
        case .timer: "timerAnswer"
        case .part: "answerPart"
        }
    }

    private static func head(_ record: LogRecord, _ kind: StaticString, _ writer: inout JSONWriter) {
        writer.member("kind", kind)
        writer.member("at", instant: record.at)
    }

    private static func append(_ fire: FireDetail, _ writer: inout JSONWriter) {
        writer.member("scheduledAt", instant: fire.scheduledAt)
        writer.member("latenessUs", fire.latenessUs)
        writer.member("missed", fire.missed)
    }

    /// Writes what only some events have: the next fire, and how long a watchdog was stalled and silent.
    private static func append(withDetailsOf record: LogRecord, _ writer: inout JSONWriter) {
        if case .at(let instant) = record.nextFire {
            writer.member("nextFireAt", instant: instant)
        }
        if let stalledFor = record.stalledFor {
            writer.member("stalledFor", duration: stalledFor)
        }
        if let silentFor = record.silentFor {
            writer.member("silentFor", duration: silentFor)
        }
    }

    private static func timer(
        _ record: LogRecord, _ row: LogRow, showsSecrets: Bool, _ writer: inout JSONWriter
    ) {
        let definition = row.data.span.extracting(record.definition)
        TimerJSON.writeID("timer", definition, &writer)
        append(record, &writer)
        let layout = record.isWhole ? Definition.layout(definition) : nil
        if let layout, record.progress.isPlanned, let header = BatchHeader(row.data.span) {
            writer.member("dueAt", instant: header.base.now.wall(of: record.progress.due, on: layout.rules.clock))
        }
        TimerJSON.writeLabels(definition, &writer)
        guard let layout else { return }
        let isStopped = record.progress.flags.contains(.webhookStopped)
        append(layout, definition, isStopped: isStopped, showsSecrets: showsSecrets, &writer)
    }

    private static func append(_ outcome: DeliveryOutcome, _ writer: inout JSONWriter) {
        writer.member("delivery", text: String(outcome.delivery))
        writer.member("attempt", Int64(outcome.attempt))
        writer.member("status", Int64(outcome.status))
        if let failure = outcome.failure {
            writer.member("error", failure.name)
        }
        if outcome.retryAt != 0 {
            writer.member("nextAttemptAt", instant: outcome.retryAt)
        }
    }

    private static func append(_ delivery: DeliveryDetail, _ writer: inout JSONWriter) {
        writer.member("delivery", text: String(delivery.id))
        writer.member("state", text: delivery.state.name)
        writer.member("attempts", Int64(delivery.attempts))
        if delivery.state == .dead {
            writer.member("reason", delivery.reason.name)
        }
        if let redrivenAt = delivery.redrivenAt {
            writer.member("redrivenAt", instant: redrivenAt)
        }
        guard let last = delivery.lastAttempt else { return }
        writer.member("status", Int64(last.status))
        if let failure = last.failure {
            writer.member("error", failure.name)
        }
        writer.member("lastAttemptAt", instant: last.at)
    }

    /// Writes the timer's progress, which every record about a timer has.
    private static func append(_ record: LogRecord, _ writer: inout JSONWriter) {
        let progress = record.progress
        writer.member("state", progress.state.name)
        writer.member("version", progress.version)
        // `due` is written as it is stored: the due instant in milliseconds on the timer's clock, or on the wall
        // clock while an instant is awaited; microseconds left where a suspended timer keeps those.
        writer.member("due", progress.due)
        if progress.lastFiredAt != 0 {
            writer.member("lastFiredAt", instant: progress.lastFiredAt)
        }
        writer.member("fireCount", progress.fireCount)
        writer.member("missedCount", progress.missedCount)
        if progress.flags.contains(.unsubscribed) { writer.member("unsubscribed", true) }
        guard let kicks = record.kicks else { return }
        writer.member("health", progress.flags.contains(.stalled) ? "stalled" : "ok")
        if progress.flags.contains(.awaiting) { writer.member("awaiting", true) }
        if kicks.graceFrom != 0 {
            writer.member("graceFrom", instant: kicks.graceFrom)
        }
        writer.member("kickCount", kicks.kickCount)
        if kicks.lastKickedAt != 0 {
            writer.member("lastKickedAt", instant: kicks.lastKickedAt)
        }
    }

    private static func append(
        _ layout: Definition.Layout, _ definition: Span<UInt8>, isStopped: Bool, showsSecrets: Bool,
        _ writer: inout JSONWriter
    ) {
        writer.beginObject("definition")
        writer.member("createdAt", instant: layout.createdAt)
        TimerJSON.writeRules(layout.rules, &writer)
        if let payload = layout.payload {
            writer.key("payload")
            writer.raw(definition, payload)
        }
        if layout.webhook != nil {
            WebhookJSON.write(
                definition, layout, isStopped: isStopped, secrets: showsSecrets ? .shown : .masked, &writer)
        }
        writer.endObject()
    }
}
