import TimerCore

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
