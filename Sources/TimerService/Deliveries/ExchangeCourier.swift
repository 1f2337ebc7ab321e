import Webhooks

/// What makes the exchanges that the dispatcher asks for: `Courier`, or a simulated one.
protocol ExchangeCourier: Sendable {
    /// Begins to work. Called once.
    func start()
    /// Begins exchanges; each has one result.
    func submit(_ requests: [CourierRequest])
    /// Ends; what is under way is given `deadlineSeconds`.
    func stop(deadlineSeconds: Double)
}

extension Courier: ExchangeCourier {}
