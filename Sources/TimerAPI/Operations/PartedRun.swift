import TimerCore

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

/// A run that does one thing to all timers or deliveries that a selector matches.
protocol BulkPartedRun: PartedRun {
    var isDry: Bool { get }
    /// The progress of the run, as a part of its answer keeps it.
    var progress: BulkProgress { get }
    /// The number of members changed when the last part was taken.
    var changedAtPart: Int { get set }
    /// Goes on after `progress`, which this run had before.
    func resume(after progress: BulkProgress)
}

extension BulkPartedRun {
    var isTotal: Bool { true }

    func takePart(isLast: Bool) -> [UInt8]? {
        let progress = progress
        // Members that were only examined can be examined again.
        guard isLast || !isDry && progress.counts.changed > changedAtPart else { return nil }
        changedAtPart = progress.counts.changed
        return progress.part
    }

    func resume(behind parts: [[UInt8]]) -> Bool {
        guard let progress = parts.last.map({ BulkProgress($0) }) ?? BulkProgress() else { return false }
        resume(after: progress)
        changedAtPart = progress.counts.changed
        return true
    }
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

/// The kind of a part of a stored answer, given by its first byte.
enum PartShape: UInt8 {
    /// The results of some lines of a batch: see `BatchResult`.
    case lines = 0
    /// The progress of a run, and its counts: see `BulkProgress`.
    case counts = 1

    /// Reads the shape of `part`; nil if there is no such shape.
    init?(of part: [UInt8]) {
        guard let first = part.first else { return nil }
        self.init(rawValue: first)
    }
}

/// The progress of a bulk run or a bulk redrive, and its counts so far: a part of its stored answer.
///
/// ```
/// whether it began        a byte
/// after, last, matched, changed, skipped   varints
/// ```
struct BulkProgress: Equatable {
    /// The member after which the run goes on; nil before the first.
    var after: UInt64?
    /// The last member that the run examines; 0 if that was not fixed at its beginning.
    var last: UInt64 = 0
    var counts = BulkCounts()

    /// The part of the answer, encoded.
    var part: [UInt8] {
        var bytes = [PartShape.counts.rawValue, after == nil ? 0 : 1]
        for number in [
            after ?? 0, last, UInt64(counts.matched), UInt64(counts.changed), UInt64(counts.skipped),
        ] { ByteCoding.append(number, to: &bytes) }
        return bytes
    }
}

extension BulkProgress {
    /// Reads a part; nil if it is not of this kind.
    init?(_ part: [UInt8]) {
        guard PartShape(of: part) == .counts else { return nil }
        var offset = 1
        guard let hasBegun = ByteCoding.readFixed(part.span, &offset, count: 1) else { return nil }
        var numbers: [UInt64] = []
        for _ in 0..<5 {
            guard let number = ByteCoding.read(part.span, &offset) else { return nil }
            numbers.append(number)
        }
        after = hasBegun == 1 ? numbers[0] : nil
        last = numbers[1]
        counts = BulkCounts(
            matched: Int(truncatingIfNeeded: numbers[2]), changed: Int(truncatingIfNeeded: numbers[3]),
            skipped: Int(truncatingIfNeeded: numbers[4]))
    }
}
