import WireJSON

/// The result of a request. Cases with a large payload are indirect: an outcome is copied wherever it is looked at.
enum Outcome {
    /// Not decided yet.
    case none
    indirect case problem(Problem)
    /// The timer in the ticket's view, with a status code of 200 or 201.
    case timer(status: Int)
    /// 204.
    case noContent
    /// The fields in which a declared timer differs.
    case differences(Differences)
    /// Instants of fires.
    case fires([Int64])
    case list(ListRun)
    case batch(BatchRun)
    case bulk(BulkCounts)
    /// Not decided yet: these events have to be read from the store, then the operation goes on.
    case needsEvents(DeliveryEventReading)
    indirect case delivery(DeliveryEntry)
    case deliveries(DeliveryListRun)
    /// A stream of events.
    indirect case stream(StreamPlan)
    /// The parts of a stored answer are at these positions. They are shown, or a request under way goes on after them.
    case replay([Int64])
    /// A stored answer that has been read.
    indirect case stored(StoredResponse)
    /// A page that never changes.
    case html(HTMLPage)
    /// A file that never changes.
    case document(Document)
    /// A text with its media type.
    case page(status: Int, type: String, [UInt8])
    /// The answer was given, or its connection was taken over.
    case gone

    /// The bytes of the answer, about; nil if no memory was reserved for it.
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
        default: false
        }
    }

    /// Whether something has to be read from the store first.
    var needsStore: Bool {
        switch self {
        case .needsEvents, .replay: true
        default: false
        }
    }
}
