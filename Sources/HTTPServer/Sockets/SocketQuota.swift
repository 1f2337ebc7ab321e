import Platform

/// The number of sockets that the server holds, in all loops and for each address (the *owner*), and its bounds.
/// May be used on any thread.
///
/// An address may hold every place while no other comes. Once all places are taken, a newcomer whose address holds
/// fewer than another takes the place of one that holds most. So an address that holds few is not kept out by one that
/// holds many.
final class SocketQuota: Sendable {
    /// The place of a new connection.
    enum Placement: Equatable {
        /// A free place.
        case free
        /// The place of another socket, which is to be closed, and whose owner holds most.
        case instead
        /// A place among those kept for health checks.
        case reserve
        /// No place: the owner holds as many as one may, or no place of any kind is free.
        case refused
    }

    private struct Counts: Sendable {
        var connections = 0
        var streams = 0
        var reserved = 0
        var forgottenAnswers = 0
        /// The most sockets at once since `hasHalved` last returned true.
        var peak = 0
        var owners = Owners()
        /// Unix sockets, without those that are about to be closed for newcomers.
        var local = 0

        /// Sockets, without those kept for health checks.
        var ordinary: Int { connections + streams }

        /// Counts one more, or one fewer, for `owner`. Unix sockets in places of their own count for no owner.
        mutating func change(_ owner: UInt64?, by difference: Int, ownPlaces: Int) {
            if owner == nil {
                local += difference
                guard max(local, local - difference) > ownPlaces else { return }
            }
            owners.change(owner, by: difference)
        }
    }

    /// The number of sockets of each owner, and the most that any of them holds.
    private struct Owners: Sendable {
        private(set) var counts: [UInt64?: Int] = [:]
        /// The number of owners that hold a given number of sockets, by that number.
        private var holders: [Int: Int] = [:]
        private(set) var most = 0

        func count(_ owner: UInt64?) -> Int { counts[owner] ?? 0 }

        /// Whether `owner` holds the most sockets, or at most a sixteenth fewer. With this margin either of two
        /// owners that hold nearly the same may lose a socket, so that a list of candidates stays of use.
        func holdsMost(_ owner: UInt64?) -> Bool { count(owner) > 0 && count(owner) >= most - most / 16 }

        mutating func change(_ owner: UInt64?, by difference: Int) {
            let old = count(owner)
            let new = old + difference
            counts[owner] = new > 0 ? new : nil
            holders[old] = holders[old].flatMap { $0 > 1 ? $0 - 1 : nil }
            if new > 0 { holders[new, default: 0] += 1 }
            most = max(most, new)
            while most > 0, holders[most] == nil { most -= 1 }
        }
    }

    private let limits: ServerLimits
    /// The most connections and streams, without those that come in beyond this number.
    private let ordinary: Int
    /// The number of sockets of each of these kinds that may come beyond `ordinary`: newcomers whose places are
    /// being cleared, Unix sockets, health checks, and health checks that are over.
    private let reserve: Int
    /// The number of health checks that each loop takes beyond `ordinary`.
    let reservePerLoop: Int
    private let counts = Guarded(Counts())
    /// The larger bodies under way.
    let bodies: ByteBudget
    /// The larger answers under way.
    let answers: ByteBudget

    /// Makes a quota without sockets. `descriptors` is how many the process may open, and `each` how many a connection
    /// takes; where they are few, half of them are for sockets.
    init(_ limits: ServerLimits, descriptors: Int, each: Int = 1, loops: Int) {
        self.limits = limits
        let sockets = max(1, (descriptors - min(limits.reservedDescriptors, descriptors / 2)) / each)
        reserve = min(limits.reservedConnections, sockets / 8)
        ordinary = max(1, min(limits.connections, sockets - 4 * reserve))
        reservePerLoop = max(1, reserve / loops)
        bodies = ByteBudget(limits.bodyBytes)
        answers = ByteBudget(limits.answerBytes)
    }

    /// The most sockets there can be.
    var most: Int { ordinary + 4 * reserve }

    var connections: Int { counts.withLock { $0.connections + $0.reserved } }
    var streams: Int { counts.withLock { $0.streams } }
    var forgottenAnswers: Int { counts.withLock { $0.forgottenAnswers } }

    /// Finds the place of one more connection of `owner`.
    func placement(for owner: UInt64?) -> Placement {
        counts.withLock { counts in
            let held = counts.owners.count(owner)
            if owner != nil, held >= limits.connectionsPerAddress { return .refused }
            if owner == nil, counts.local < reserve { return .free }
            let taken = counts.ordinary - min(counts.local, reserve)
            if taken < ordinary { return .free }
            if held < counts.owners.most, taken < ordinary + reserve { return .instead }
            return counts.reserved < 2 * reserve ? .reserve : .refused
        }
    }

    func came(_ claim: SocketClaim) {
        counts.withLock { counts in
            guard claim.kind != .reserved else { return counts.reserved += 1 }
            counts.connections += 1
            counts.peak = max(counts.peak, counts.ordinary)
            counts.change(claim.owner, by: 1, ownPlaces: reserve)
        }
    }

    func went(_ claim: SocketClaim) {
        counts.withLock { counts in
            switch claim.kind {
            case .reserved: return counts.reserved -= 1
            case .connection: counts.connections -= 1
            case .stream: counts.streams -= 1
            }
            if !claim.isEvicted { counts.change(claim.owner, by: -1, ownPlaces: reserve) }
        }
    }

    /// Stops counting a socket for its owner, as it is about to be closed for a newcomer. Returns false, and
    /// changes nothing, where other owners hold more by now, where this was done before, and for one of kind
    /// `reserved`.
    func stopCounting(_ claim: inout SocketClaim) -> Bool {
        guard claim.kind != .reserved, !claim.isEvicted else { return false }
        claim.isEvicted = counts.withLock { counts in
            guard counts.owners.holdsMost(claim.owner) else { return false }
            counts.change(claim.owner, by: -1, ownPlaces: reserve)
            return true
        }
        return claim.isEvicted
    }

    /// The members of `sockets` whose owners hold most.
    func heldByLargestHolders<Socket>(_ sockets: [Socket], claim: (Socket) -> SocketClaim?) -> [Socket] {
        counts.withLock { counts in sockets.filter { claim($0).map { counts.owners.holdsMost($0.owner) } ?? false } }
    }

    /// Counts one more stream. Returns false, and counts none, where there are too many.
    func takeStream(isForced: Bool = false) -> Bool {
        counts.withLock { counts in
            guard isForced || counts.streams < limits.streams else { return false }
            counts.streams += 1
            return true
        }
    }

    func returnStream() {
        counts.withLock { $0.streams -= 1 }
    }

    /// Counts one connection fewer. Called after `takeStream`.
    func connectionBecameStream() {
        counts.withLock { $0.connections -= 1 }
    }

    /// Whether there were at least `size` sockets at once, of which no more than half are left. True once for each
    /// such peak.
    func hasHalved(sincePeakOf size: Int) -> Bool {
        counts.withLock { counts in
            guard counts.peak >= size, counts.ordinary <= counts.peak / 2 else { return false }
            counts.peak = counts.ordinary
            return true
        }
    }

    func answerWasForgotten() {
        counts.withLock { $0.forgottenAnswers += 1 }
    }
}

/// The way in which a socket counts in `SocketQuota`, from its start to its end.
struct SocketClaim {
    enum Kind {
        /// A connection that the library serves.
        case connection
        /// A stream or a parked answer.
        case stream
        /// A connection beyond the ordinary number, for a health check.
        case reserved
    }

    /// The address that the socket counts for; nil for Unix sockets.
    let owner: UInt64?
    var kind: Kind
    /// Whether the socket is about to be closed for a newcomer, and no longer counts for its address.
    var isEvicted = false
}

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
