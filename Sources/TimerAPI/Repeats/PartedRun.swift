/// A request of many steps. Under an idempotency key each step writes a part of the answer in the batch of its changes, so
/// that a repeated request goes on after the parts that stand.
///
/// With several partitions it goes in legs, one in each partition that it concerns, and each leg has parts of its own.
protocol PartedRun: AnyObject {
    /// The partition of the leg that is under way.
    var partition: Int { get }
    /// Whether the leg under way is done, and is not the last.
    var isLegDone: Bool { get }
    /// Begins the next leg.
    func beginNextLeg()
    /// Whether each part holds all that the leg's parts before it hold.
    var isTotal: Bool { get }
    /// What was done since the last part was taken, encoded; nil if nothing of it must be kept. Under the lock.
    func takePart(isLast: Bool) -> [UInt8]?
    /// Goes on after `parts` of the leg, which stand in the log in this order. Returns false if they are not parts of this
    /// run.
    func resume(behind parts: [[UInt8]]) -> Bool
    /// Notes that the parts which it went on after are all of the leg.
    func endLeg()
    /// What came of it, once its last leg is done.
    var outcome: Outcome { get }
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
