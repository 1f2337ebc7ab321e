import TimerCore

/// The work that a request asks for, as the executor carries it out. Cases with a large payload are indirect, since
/// an operation is copied wherever it is read.
enum Operation {
    /// No work: the outcome is known.
    case none
    /// A refusal with the problem; with `notFound` instead if the timer `unlessMissing` does not exist.
    indirect case fail(Problem, unlessMissing: TimerKey?)
    /// Makes the timer with the ticket's definition; so do `put`, `replace` and `amend`.
    case create(TimerKey)
    case put(TimerKey, VersionCondition, unless: VersionCondition)
    /// Reads the timer, if it exists, so that a replacement can keep secrets of its webhook.
    case readForPut(TimerKey, VersionCondition, unless: VersionCondition)
    case replace(TimerKey, basis: Int64, VersionCondition, unless: VersionCondition)
    /// Makes the timer or changes what differs; a dry run only compares.
    indirect case declare(Declaration, isDry: Bool)
    /// Reads the timer, so that the patched definition can be computed.
    case readForPatch(TimerKey, VersionCondition)
    case amend(TimerKey, basis: Int64, VersionCondition)
    case command(TimerCommand, TimerKey, RescheduleTarget?, VersionCondition)
    case delete(TimerKey, VersionCondition)
    case get(TimerKey)
    case next(TimerKey, FiresQuery)
    indirect case preview(TimerRules, FiresQuery)
    /// Computes fires outside of the lock.
    indirect case upcoming(UpcomingFires, isDescribed: Bool)
    case list(ListRun)
    case due(DueRun)
    /// Reads the timer whose webhook is to be tested.
    case testWebhook(TimerKey)
    case batch(BatchRun)
    case bulk(BulkRun)
    case deliveries(DeliveryOperation)
    /// Drains the server, or ends the drain.
    case drain(Bool)
    case importPart(ImportRun)
    case importState(ImportState)
    indirect case keys(KeyRequest)
    indirect case calendars(CalendarRequest)
    indirect case stream(StreamPlan)
    /// Subscribes a stream that is admitted: activates the timer if it still waits for a subscriber.
    indirect case subscribe(StreamPlan)

    /// The most bytes that the answer and the memory for gathering it take; 0 for an answer that is
    /// counted once it is made.
    var mostAnswerBytes: Int {
        switch self {
        case .list(let run):
            // The allocator may still hold the timers that were gathered once the page is written.
            2 * min(run.limit * APILimits.timerBytes, APILimits.pageBytes + APILimits.timerBytes)
        case .deliveries(.list(let run)):
            min(run.limit * APILimits.timerBytes, APILimits.pageBytes + APILimits.timerBytes)
        case .calendars(.list(let page)): page.mostBytes
        case .batch(let run): run.mostAnswerBytes
        default: 0
        }
    }
}

extension Operation {
    /// Whether the operation takes many steps, each of which is long.
    var isLong: Bool {
        switch self {
        case .list, .due, .batch, .bulk, .deliveries, .importPart: true
        default: false
        }
    }
}

/// The part of a timer's next fires, or of a schedule's, that a request asks for.
struct FiresQuery {
    /// The most fires.
    let count: Int
    /// Whether the schedule is described in words too.
    let isDescribed: Bool
}

/// An operation on deliveries that a request asks for.
enum DeliveryOperation {
    case one(SingleDeliveryRun)
    case list(DeliveryListRun)
    case redrive(BulkRedriveRun)
    /// A refusal with the problem; with `noDelivery` instead if the delivery `unlessMissing` does not exist.
    indirect case fail(Problem, unlessMissing: EventID)
}
