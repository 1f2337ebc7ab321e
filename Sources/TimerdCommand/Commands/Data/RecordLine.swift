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
        writer.key("position")
        writer.string(String(record.position))
        switch record.content {
        case .event(let type, let reason, let fire):
            head(record, "event", &writer)
            writer.key("type")
            writer.string(type.name)
            if reason != .none {
                writer.key("reason")
                writer.string(reason.name)
            }
            if let fire { append(fire, &writer) }
            append(withDetailsOf: record, &writer)
            writer.key("previous")
            writer.string(String(record.previous))
            if let outcome = record.outcome {
                append(outcome, &writer)
                append(id: row.data.span.extracting(record.definition), &writer)
            } else {
                timer(record, row, showsSecrets: showsSecrets, &writer)
            }
        case .snapshot(let lastEvent):
            head(record, "snapshot", &writer)
            writer.key("lastEvent")
            writer.string(String(lastEvent))
            timer(record, row, showsSecrets: showsSecrets, &writer)
        case .answer(let answer): append(answer, record, &writer)
        case .kick(let hash, let base):
            head(record, "kick", &writer)
            writer.key("hash")
            writer.string(String(hash, radix: 16))
            writer.key("base")
            writer.string(String(base))
            append(record, &writer)
        case .delivery(let delivery, _):
            head(record, "delivery", &writer)
            append(delivery, &writer)
            append(id: row.data.span.extracting(record.definition), &writer)
        case .will(let takesDeliveries):
            will(record, row, takesDeliveries: takesDeliveries, showsSecrets: showsSecrets, &writer)
        case .condensed(let last):
            head(record, "condensed", &writer)
            writer.key("restingOn")
            writer.string(String(last))
        case .versionFloor(let floor):
            head(record, "versionFloor", &writer)
            writer.key("floor")
            writer.integer(floor)
        case .mark(let mark):
            head(record, "mark", &writer)
            writer.key("through")
            writer.string(String(mark.position))
            writer.key("version")
            writer.integer(mark.version)
        case .drain(let isDrained):
            head(record, "drain", &writer)
            writer.member("drained", isDrained)
        case .importProgress(let progress):
            append(progress, record, &writer)
        }
        writer.endObject()
        writer.newline()
        output += writer.bytes
    }

    private static func append(_ answer: StoredAnswer, _ record: LogRecord, _ writer: inout JSONWriter) {
        head(record, name(of: answer.form), &writer)
        writer.key("key")
        writer.string(Hexadecimal.text([answer.key.high, answer.key.low]))
        if case .part(let part) = answer.form {
            writer.key("origin")
            writer.string(String(part.origin))
            writer.member("part", Int64(part.index))
            writer.member("isLast", part.isLast)
        }
        writer.key("answeredAt")
        writer.instant(answer.answeredAt)
        writer.key("bytes")
        writer.integer(Int64(answer.answer.count))
    }

    private static func append(_ progress: ImportProgress, _ record: LogRecord, _ writer: inout JSONWriter) {
        head(record, "import", &writer)
        writer.key("export")
        writer.string(Hexadecimal.text([progress.export.high, progress.export.low]))
        writer.member("part", Int64(progress.part))
        writer.member("lines", Int64(progress.lines))
        writer.member("isWhole", progress.isWhole)
        writer.member("isLast", progress.isLast)
    }

    /// Writes the record of a deleted timer: its definition at the time of the deletion.
    private static func will(
        _ record: LogRecord, _ row: LogRow, takesDeliveries: Bool, showsSecrets: Bool, _ writer: inout JSONWriter
    ) {
        head(record, "will", &writer)
        let definition = row.data.span.extracting(record.definition)
        append(id: definition, &writer)
        labels(definition, &writer)
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
        writer.key("kind")
        writer.string(kind)
        writer.key("at")
        writer.instant(record.at)
    }

    private static func append(_ fire: FireDetail, _ writer: inout JSONWriter) {
        writer.key("scheduledAt")
        writer.instant(fire.scheduledAt)
        writer.key("latenessUs")
        writer.integer(fire.latenessUs)
        writer.key("missed")
        writer.integer(fire.missed)
    }

    /// Writes what only some events have: the next fire, and how long a watchdog was stalled and silent.
    private static func append(withDetailsOf record: LogRecord, _ writer: inout JSONWriter) {
        if case .at(let instant) = record.nextFire {
            writer.key("nextFireAt")
            writer.instant(instant)
        }
        if let stalledFor = record.stalledFor {
            writer.key("stalledFor")
            writer.duration(stalledFor)
        }
        if let silentFor = record.silentFor {
            writer.key("silentFor")
            writer.duration(silentFor)
        }
    }

    private static func timer(
        _ record: LogRecord, _ row: LogRow, showsSecrets: Bool, _ writer: inout JSONWriter
    ) {
        let definition = row.data.span.extracting(record.definition)
        append(id: definition, &writer)
        append(record, &writer)
        let layout = record.isWhole ? Definition.layout(definition) : nil
        if let layout, record.progress.isPlanned, let header = BatchHeader(row.data.span) {
            writer.key("dueAt")
            writer.instant(header.base.now.wall(of: record.progress.due, on: layout.rules.clock))
        }
        labels(definition, &writer)
        guard let layout else { return }
        let isStopped = record.progress.flags.contains(.webhookStopped)
        append(layout, definition, isStopped: isStopped, showsSecrets: showsSecrets, &writer)
    }

    private static func append(id definition: Span<UInt8>, _ writer: inout JSONWriter) {
        var id: [UInt8] = []
        Definition.appendID(definition, to: &id)
        writer.key("timer")
        writer.string(id)
    }

    private static func append(_ outcome: DeliveryOutcome, _ writer: inout JSONWriter) {
        writer.key("delivery")
        writer.string(String(outcome.delivery))
        writer.key("attempt")
        writer.integer(Int64(outcome.attempt))
        writer.key("status")
        writer.integer(Int64(outcome.status))
        if let failure = outcome.failure {
            writer.key("error")
            writer.string(failure.name)
        }
        if outcome.retryAt != 0 {
            writer.key("nextAttemptAt")
            writer.instant(outcome.retryAt)
        }
    }

    private static func append(_ delivery: DeliveryDetail, _ writer: inout JSONWriter) {
        writer.key("delivery")
        writer.string(String(delivery.id))
        writer.key("state")
        writer.string(delivery.state.name)
        writer.key("attempts")
        writer.integer(Int64(delivery.attempts))
        if delivery.state == .dead {
            writer.key("reason")
            writer.string(delivery.reason.name)
        }
        if let redrivenAt = delivery.redrivenAt {
            writer.key("redrivenAt")
            writer.instant(redrivenAt)
        }
        guard let last = delivery.lastAttempt else { return }
        writer.key("status")
        writer.integer(Int64(last.status))
        if let failure = last.failure {
            writer.key("error")
            writer.string(failure.name)
        }
        writer.key("lastAttemptAt")
        writer.instant(last.at)
    }

    /// Writes the timer's progress, which every record about a timer has.
    private static func append(_ record: LogRecord, _ writer: inout JSONWriter) {
        let progress = record.progress
        writer.key("state")
        writer.string(progress.state.name)
        writer.key("version")
        writer.integer(progress.version)
        // `due` is written as it is stored: the due instant in milliseconds on the timer's clock, or on the wall
        // clock while an instant is awaited; microseconds left where a suspended timer keeps those.
        writer.key("due")
        writer.integer(progress.due)
        if progress.lastFiredAt != 0 {
            writer.key("lastFiredAt")
            writer.instant(progress.lastFiredAt)
        }
        writer.key("fireCount")
        writer.integer(progress.fireCount)
        writer.key("missedCount")
        writer.integer(progress.missedCount)
        if progress.flags.contains(.unsubscribed) { writer.member("unsubscribed", true) }
        guard let kicks = record.kicks else { return }
        writer.key("health")
        writer.string(progress.flags.contains(.stalled) ? "stalled" as StaticString : "ok")
        if progress.flags.contains(.awaiting) { writer.member("awaiting", true) }
        if kicks.graceFrom != 0 {
            writer.key("graceFrom")
            writer.instant(kicks.graceFrom)
        }
        writer.key("kickCount")
        writer.integer(kicks.kickCount)
        if kicks.lastKickedAt != 0 {
            writer.key("lastKickedAt")
            writer.instant(kicks.lastKickedAt)
        }
    }

    private static func labels(_ definition: Span<UInt8>, _ writer: inout JSONWriter) {
        let run = Definition.labels(definition)
        var offset = run.lowerBound
        writer.key("labels")
        writer.beginObject()
        while let (key, value) = Definition.nextLabel(definition, &offset, end: run.upperBound) {
            writer.key(bytes: copy(definition, key))
            writer.string(copy(definition, value))
        }
        writer.endObject()
    }

    private static func append(
        _ layout: Definition.Layout, _ definition: Span<UInt8>, isStopped: Bool, showsSecrets: Bool,
        _ writer: inout JSONWriter
    ) {
        writer.key("definition")
        writer.beginObject()
        writer.key("createdAt")
        writer.instant(layout.createdAt)
        TimerJSON.writeRules(layout.rules, &writer)
        if let payload = layout.payload {
            writer.key("payload")
            writer.raw(copy(definition, payload))
        }
        if layout.webhook != nil {
            writer.key("webhook")
            WebhookJSON.write(definition, layout, isStopped: isStopped, showsSecrets: showsSecrets, &writer)
        }
        writer.endObject()
    }

    private static func copy(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] { range.map { bytes[$0] } }
}
