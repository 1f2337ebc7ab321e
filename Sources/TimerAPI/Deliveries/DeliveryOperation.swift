/// What a request asks of deliveries.
enum DeliveryOperation {
    case one(SingleDeliveryRun)
    case list(DeliveryListRun)
    case redrive(BulkRedriveRun)
    /// A problem, unless the delivery does not exist: that is told first.
    indirect case fail(Problem, unlessMissing: EventID)
}
