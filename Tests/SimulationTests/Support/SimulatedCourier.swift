import Webhooks

@testable import TimerService

/// A courier that takes the requests of a dispatcher; the simulation decides when they are answered.
final class SimulatedCourier: WebhookCourier, @unchecked Sendable {  // unchecked: a simulation has one thread
    private let finished: ([CourierResult]) -> Void
    /// Called with the requests to send.
    var onSubmit: ([CourierRequest]) -> Void = { _ in }

    init(_ finished: @escaping ([CourierResult]) -> Void) { self.finished = finished }

    func start() {}
    func submit(_ requests: [CourierRequest]) { if !requests.isEmpty { onSubmit(requests) } }
    func stop(deadlineSeconds: Double) {}

    /// Reports how an exchange ended.
    func finish(_ result: CourierResult) { finished([result]) }
}
