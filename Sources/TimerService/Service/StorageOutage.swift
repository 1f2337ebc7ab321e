/// Which partitions' storage fails, so that an operator hears of an outage once, however many partitions it concerns.
public struct StorageOutage: Sendable {
    private var failing: Set<Int> = []
    /// Those that failed since storage worked for all of them.
    private var failed: Set<Int> = []

    /// Begins where storage works.
    public init() {}

    /// Appends of `partitions` failed. Returns whether that is news: no outage is under way.
    public mutating func begin(_ partitions: [Int]) -> Bool {
        // One that fails again has come back unheard: the process gave it up, and took it anew.
        if !failing.isDisjoint(with: partitions) { (failing, failed) = ([], []) }
        defer {
            failing.formUnion(partitions)
            failed.formUnion(partitions)
        }
        return failing.isEmpty
    }

    /// Storage works again for a partition. Returns how many had failed, once it works for all of them.
    public mutating func end(_ partition: Int) -> Int? {
        failed.insert(partition)
        return leave(partition)
    }

    /// A partition is no more part of the outage: another process has it, or it waits for an operator, who was told. Returns how
    /// many others had failed, once storage works for all of them.
    public mutating func drop(_ partition: Int) -> Int? {
        guard failing.contains(partition) else { return nil }
        failed.remove(partition)
        return leave(partition)
    }

    private mutating func leave(_ partition: Int) -> Int? {
        failing.remove(partition)
        guard failing.isEmpty else { return nil }
        defer { failed = [] }
        return failed.isEmpty ? nil : failed.count
    }
}
