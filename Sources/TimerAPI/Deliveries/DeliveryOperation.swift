/// What a request asks of deliveries.
enum DeliveryOperation {
    case one(SingleDeliveryRun)
    case list(DeliveryListRun)
    case redrive(BulkRedriveRun)
    /// A problem, unless the delivery it is about is missing, which comes first.
    case fail(Problem, unlessMissing: EventID)
}
