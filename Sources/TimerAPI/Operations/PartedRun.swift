/// A request of many steps. Under an idempotency key each step writes a part of the answer in the batch of its
/// changes, so that a repeated request goes on after the parts that are stored.
protocol PartedRun: AnyObject {
    /// Whether each part holds all that the parts before it hold.
    var isTotal: Bool { get }
    /// Returns what was done since the last part was taken, encoded; nil if nothing of it must be
    /// kept. Called under the lock.
    func takePart(isLast: Bool) -> [UInt8]?
    /// Goes on after `parts`, which are stored in the log in this order. Returns false if they are
    /// not parts of this run.
    func resume(behind parts: [[UInt8]]) -> Bool
}

extension Operation {
    /// The operation's run, if it is one of many steps.
    var partedRun: (any PartedRun)? {
        switch self {
        case .batch(let run): run
        case .bulk(let run): run
        case .deliveries(.redrive(let run)): run
        default: nil
        }
    }
}
