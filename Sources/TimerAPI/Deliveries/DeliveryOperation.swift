/// What a request asks of deliveries.
enum DeliveryOperation {
    case one(DeliveryRun)
    case list(DeliveriesRun)
    case redrive(RedriveRun)
    /// A problem, unless the delivery it is about is missing, which comes first.
    case fail(Problem, unlessMissing: EventID)
}
