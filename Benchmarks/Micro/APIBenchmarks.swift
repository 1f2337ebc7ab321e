import TimerAPI
import TimerCore
import TimerLog
import TimerService
import Webhooks
import WireJSON

extension Benchmark {
    /// Timers and events between their JSON and the core.
    static let api = [
        Benchmark("api.read-create") { count in
            var document = JSONDocument()
            let isParsed = (try? document.parse(Sample.body)) != nil
            let id = Sample.id(1)
            var bytes = 0
            for _ in 0..<count {
                let body = try? TimerBody(document, zones: UTCOnly())
                bytes += (try? body?.definition(id: id))?.count ?? 0
            }
            require(isParsed && bytes > count * Sample.payload.count, "the body was refused")
            return bytes
        },
        Benchmark("api.write-timer") { count in
            var view = TimerView()
            view.definition = Sample.definition(1, Sample.rules(.month))
            view.progress = fired.record.progress
            view.now = Sample.now
            return write(count) { TimerJSON.write(view, &$0) }
        },
        Benchmark("api.write-event-ndjson") { count in
            write(count) { EventJSON.write(fired.record, fired.data, as: .ndjson, &$0) }
        },
        Benchmark("api.write-event-sse") { count in
            write(count) { EventJSON.write(fired.record, fired.data, as: .sse, &$0) }
        },
    ]

    /// Deliveries.
    static let webhooks = [
        Benchmark("webhooks.sign") { count in
            let keys = SigningKeys()
            var bytes = 0
            for _ in 0..<count {
                bytes +=
                    WebhookSignature.header(
                        id: "000000000001000000", timestamp: 1_795_251_600, body: Sample.payload, secrets: secrets,
                        keys: keys
                    )
                    .utf8.count
            }
            return bytes
        },
        Benchmark("webhooks.make-request") { count in
            let webhook = WebhookConfiguration(url: "http://127.0.0.1:9/hook", secrets: secrets)
            let builder = WebhookRequestBuilder(version: "1")
            var headers = 0
            for _ in 0..<count {
                let event = WebhookEvents.event(fired.record, fired.data, for: webhook)
                headers += builder.request(event, by: webhook, timestamp: 1_795_251_600).headers.count
            }
            require(headers == 5 * count, "\(headers) headers, the signature not among them")
            return headers
        },
    ]

    private static let secrets = [WebhookSecret(key: [UInt8](0..<32))].compactMap { $0 }

    /// A fire with a payload, and the bytes of its row.
    private static let fired: (record: LogRecord, data: [UInt8]) = {
        let row = LogSample.rows(LogSample.records([LogSample.fired]), first: 1_000_000)[0]
        guard let record = RowRecords(row).record(at: row.first) else { fatalError("what was written decodes") }
        return (record, row.data)
    }()

    private static func write(_ count: Int, _ value: (inout JSONWriter) -> Void) -> Int {
        var json = JSONWriter()
        var bytes = 0
        for _ in 0..<count {
            json.reset()
            value(&json)
            bytes += json.count
        }
        return bytes
    }
}
