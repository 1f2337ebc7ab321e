import Platform

/// How many bytes the larger bodies, or the larger answers, under way hold together, and whose they are. Any thread.
///
/// One address may hold nearly all while nobody else wants any: it gets more only up to so many times what is left. So
/// there is always something for an address that holds little.
final class ByteBudget: Sendable {
    private struct Holdings {
        var total = 0
        /// By whose they are; nil: of Unix sockets.
        var byOwner: [UInt64?: Int] = [:]
    }

    /// An address holds at most so many times what is left.
    private static let share = 15
    private let limit: Int
    private let guarded = Guarded()

    /// The holdings, which only the holder of the lock touches.
    private final class Guarded: @unchecked Sendable {  // unchecked: every access is inside `lock`
        let lock = Lock()
        private var holdings = Holdings()

        func use<Result>(_ body: (inout Holdings) -> Result) -> Result {
            lock.withLock { body(&holdings) }
        }
    }

    /// None are held; at most `limit` may be.
    init(_ limit: Int) { self.limit = limit }

    /// The bytes held.
    var total: Int { guarded.use { $0.total } }

    /// So many more bytes, if that may be.
    func take(_ bytes: Int, for owner: UInt64?) -> Bool {
        guarded.use { holdings in
            let left = limit - holdings.total - bytes
            guard left >= 0, holdings.byOwner[owner, default: 0] + bytes <= Self.share * left else { return false }
            holdings.total += bytes
            holdings.byOwner[owner, default: 0] += bytes
            return true
        }
    }

    /// So many more bytes, whether or not that may be; fewer where it is negative.
    func change(by bytes: Int, for owner: UInt64?) {
        guarded.use { holdings in
            holdings.total += bytes
            let held = holdings.byOwner[owner, default: 0] + bytes
            holdings.byOwner[owner] = held > 0 ? held : nil
        }
    }
}
