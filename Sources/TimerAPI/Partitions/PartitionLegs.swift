/// The partitions that a run of many steps goes through one after the other, each in a leg of its own.
struct PartitionLegs {
    private let scope: PartitionScope
    /// The partition that is first, out of turn.
    private let home: Int?
    /// The partition of the leg under way.
    private(set) var current: Int
    private var following: Int?

    /// - Parameters:
    ///   - scope: the partitions, at least one.
    ///   - only: the one of them that the run concerns; nil: all.
    ///   - home: that of the request's idempotency key, in which any other request with the key is met, so it is the first;
    ///     where the scope has it, a leg is there even if the run does not concern it.
    init(_ scope: PartitionScope, only: Int? = nil, home: Int? = nil) {
        let own = only.flatMap { scope.contains($0) ? PartitionScope(scope, only: $0) : nil } ?? scope
        let home = home.flatMap { scope.contains($0) ? $0 : nil }
        (self.scope, self.home) = (own, home)
        current = home ?? own.first() ?? 0
        following = own.first()
        if home == nil { following = own.next(after: current) }
        skipHome()
    }

    /// The partitions of all legs.
    var all: Set<Int> { Set(scope.numbers).union(home.map { [$0] } ?? []) }

    /// Whether no leg follows.
    var isLast: Bool { following == nil }

    /// Goes on with the next leg.
    mutating func removeFirst() {
        guard let next = following else { return }
        current = next
        following = scope.next(after: next)
        skipHome()
    }

    private mutating func skipHome() {
        if let next = following, next == home { following = scope.next(after: next) }
    }
}
