import Platform

/// Numbers of sessions, one after the other.
final class SessionNumbers: Sendable {
    private let last: Guarded<Int64>

    init(first: Int64 = 1) { last = Guarded(first - 1) }

    func next() -> Int64 {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
