import Webhooks

/// Sends the requests of the dispatcher's attempts: `Courier`, or a simulated one.
protocol WebhookCourier: Sendable {
    /// Begins to work. Called once.
    func start()
    /// Begins requests; each has one result.
    func submit(_ requests: [CourierRequest])
    /// Stops; requests under way have `deadlineSeconds` to end.
    func stop(deadlineSeconds: Double)
}

extension Courier: WebhookCourier {}
