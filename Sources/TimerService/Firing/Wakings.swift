/// When each of several partitions means to wake, in nanoseconds since boot: a tree in which each node has the least instant
/// of the two below it, so that a change and the next partition take as many steps as the number of partitions has bits.
struct Wakings {
    /// The least instant of the node's leaves, from the root at 1; the leaves are behind the inner nodes.
    private var least: [Int64]
    private let count: Int

    /// Nothing planned.
    ///
    /// - Parameter count: of partitions, a power of two.
    init(count: Int) {
        precondition(count.nonzeroBitCount == 1, "a volume has a power of two of partitions")
        self.count = count
        least = [Int64](repeating: .max, count: 2 * count)
    }

    /// The least instant of all; `Int64.max` for none.
    var first: Int64 { least[1] }

    /// When the partition `number` means to wake; `Int64.max` for never.
    subscript(number: Int) -> Int64 {
        get { least[count + number] }
        set {
            var node = count + number
            least[node] = newValue
            while node > 1 {
                node /= 2
                least[node] = min(least[2 * node], least[2 * node + 1])
            }
        }
    }

    /// Takes the partition that means to wake first, where that is at `instant` or before; nil for none.
    mutating func popFirst(through instant: Int64) -> Int? {
        guard first <= instant, first != .max else { return nil }
        var node = 1
        while node < count {
            node *= 2
            if least[node] > least[node + 1] { node += 1 }
        }
        self[node - count] = .max
        return node - count
    }
}
