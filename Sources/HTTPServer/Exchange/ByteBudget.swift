import Platform

/// The number of bytes that the larger bodies, or the larger answers, under way hold together, counted by address.
/// May be used on any thread.
///
/// One address may hold nearly all while no other wants any: it gets more only up to 15 times what is left. So there is
/// always something left for an address that holds little.
final class ByteBudget: Sendable {
    private struct Holdings: Sendable {
        var total = 0
        /// The bytes held for each address; those of Unix sockets are under nil.
        var byOwner: [UInt64?: Int] = [:]
    }

    /// An address holds at most this many times what is left.
    private static let share = 15
    private let limit: Int
    private let holdings = Guarded(Holdings())

    /// A budget of `limit` bytes, none of them held.
    init(_ limit: Int) { self.limit = limit }

    /// The bytes held.
    var total: Int { holdings.withLock { $0.total } }

    /// Takes `bytes` more for `owner`. Returns false, and takes none, where they are too many.
    func take(_ bytes: Int, for owner: UInt64?) -> Bool {
        holdings.withLock { holdings in
            let left = limit - holdings.total - bytes
            guard left >= 0, holdings.byOwner[owner, default: 0] + bytes <= Self.share * left else { return false }
            holdings.total += bytes
            holdings.byOwner[owner, default: 0] += bytes
            return true
        }
    }

    /// Counts `bytes` more for `owner`, or fewer where `bytes` is negative, however many are held.
    func change(by bytes: Int, for owner: UInt64?) {
        holdings.withLock { holdings in
            holdings.total += bytes
            let held = holdings.byOwner[owner, default: 0] + bytes
            holdings.byOwner[owner] = held > 0 ? held : nil
        }
    }
}
