/// A histogram with fixed bounds, as Prometheus has it.
public struct Histogram: Sendable {
    /// Upper bounds of the buckets, rising; one more bucket without a bound follows.
    public let bounds: [Double]
    /// Observations in each bucket, not cumulated.
    public private(set) var counts: [Int]
    /// Sum of what was observed.
    public private(set) var sum = 0.0

    /// Makes an empty histogram.
    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    /// Adds an observation.
    public mutating func observe(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }
}
