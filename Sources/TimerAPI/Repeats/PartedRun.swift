/// A request of many steps. Under an idempotency key each step leaves a part of the answer in the batch of its changes, so
/// that a repeated request goes on behind what stands.
protocol PartedRun: AnyObject {
    /// Whether a part says all that those before it say.
    var isTotal: Bool { get }
    /// What was done since the last part was taken, encoded; nil when nothing of it must be kept. Under the lock.
    func takePart(isLast: Bool) -> [UInt8]?
    /// Goes on behind `parts`, which those that stand say in their order. Returns false when they are no parts of it.
    func resume(behind parts: [[UInt8]]) -> Bool
}

extension Operation {
    /// The run of many steps that it is, if it is one.
    var partedRun: (any PartedRun)? {
        switch self {
        case .batch(let run): run
        case .bulk(let run): run
        case .deliveries(.redrive(let run)): run
        default: nil
        }
    }
}
