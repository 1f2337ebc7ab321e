import TimerCore
import WireJSON

/// The result of a request. Cases with a large payload are indirect, since an outcome is copied wherever it is read.
enum Outcome {
    /// No result: the request is not decided yet.
    case none
    indirect case problem(Problem)
    /// The timer in the ticket's view, with a status code of 200 or 201.
    case timer(status: Int)
    /// An answer with status 204.
    case noContent
    /// The fields in which a declared timer differs.
    case differences(Differences)
    /// Instants of fires, all found.
    indirect case fires(UpcomingFires, isDescribed: Bool)
    case list(ListRun)
    case batch(BatchRun)
    case bulk(BulkCounts)
    /// The events that have to be read from the store before the operation goes on.
    case needsEvents(DeliveryEventReading)
    /// The timer in the ticket's view, whose webhook is to be tested.
    case webhookTest
    /// The log is to be handed over to the server at the URL; nil: to the one that has read most of it.
    indirect case handOver(to: String?)
    indirect case delivery(DeliveryEntry)
    case deliveries(DeliveryListRun)
    indirect case keys(KeyAnswer)
    indirect case calendars(CalendarAnswer)
    /// A stream of events.
    indirect case stream(StreamPlan)
    /// The positions of the parts of a stored answer, which are shown, or after which a request under way goes on.
    case replay([Int64])
    /// A stored answer that has been read.
    indirect case stored(StoredResponse)
    /// A page that never changes.
    case html(HTMLPage)
    /// A file that never changes.
    case document(Document)
    /// A text with its media type.
    case page(status: Int, type: String, [UInt8])
    /// The answer was sent, or its connection was taken over.
    case gone

    /// Makes an answer that is a JSON object, whose members `write` writes.
    static func object(status: Int = 200, _ write: (inout JSONWriter) -> Void) -> Outcome {
        .page(status: status, type: "application/json", JSONWriter.object(write))
    }

    /// The approximate bytes of the answer; nil if no memory was reserved for it.
    var answerBytes: Int? {
        switch self {
        case .list(let run): run.bytes
        case .batch(let run): run.outputBytes
        default: nil
        }
    }

    /// Whether the request was carried out.
    var isSuccess: Bool {
        switch self {
        case .timer, .noContent, .differences, .fires, .list, .batch, .bulk, .delivery, .deliveries: true
        case .page(let status, _, _): (200..<300).contains(status)
        default: false
        }
    }

    /// Whether the store has to be read first.
    var needsStore: Bool {
        switch self {
        case .needsEvents, .replay: true
        default: false
        }
    }
}
