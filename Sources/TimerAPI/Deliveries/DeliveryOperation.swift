/// An operation on deliveries that a request asks for.
enum DeliveryOperation {
    case one(SingleDeliveryRun)
    case list(DeliveryListRun)
    case redrive(BulkRedriveRun)
    /// A refusal with the problem; with `noDelivery` instead if the delivery `unlessMissing` does not exist.
    indirect case fail(Problem, unlessMissing: EventID)
}
