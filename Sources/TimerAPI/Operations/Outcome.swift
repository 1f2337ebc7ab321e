import WireJSON

/// What came of a request.
enum Outcome {
    /// Not decided yet.
    case none
    case problem(Problem)
    /// The timer in the ticket's view, with a status code of 200 or 201.
    case timer(status: Int)
    /// 204.
    case noContent
    /// Instants of fires.
    case fires([Int64])
    case list(ListRun)
    case batch(BatchRun)
    case bulk(BulkCounts)
    /// None yet: events have to be read from the store first, then the operation goes on.
    case needsEvents(DeliveryEventReading)
    case delivery(DeliveryEntry)
    case deliveries(DeliveryListRun)
    /// Events from here on.
    case stream(StreamPlan)
    /// The stored answer at these positions, part by part: to be shown, or by a request under way to go on from.
    case replay([Int64])
    /// An answer as it was stored.
    case stored(StoredResponse)
    /// The dashboard.
    case dashboard(Dashboard)
    /// A text of a media type.
    case page(status: Int, type: String, [UInt8])
    /// The answer was given, or its connection was taken over.
    case gone

    /// Bytes that the answer holds from here on, as far as they are known; nil where nothing was reserved.
    var answerBytes: Int? {
        switch self {
        case .list(let run): run.bytes
        case .batch(let run): run.output.count
        default: nil
        }
    }

    /// Whether the request was carried out.
    var isSuccess: Bool {
        switch self {
        case .timer, .noContent, .fires, .list, .batch, .bulk, .delivery, .deliveries: true
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
