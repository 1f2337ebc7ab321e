import Platform

/// How many sockets the server holds, in all loops and for each address (the *owner*). Any thread.
///
/// An address may hold every place while no other comes. Once all places are taken, a newcomer whose address holds
/// fewer than another takes the place of one that holds most. So an address that holds few is not kept out by one that
/// holds many.
final class SocketQuota: Sendable {
    /// Where a new connection finds its place.
    enum Placement: Equatable {
        /// A free place.
        case free
        /// The place of a socket of an owner that holds most, which is to be closed.
        case instead
        /// A place among those kept for health checks.
        case reserve
        /// None: its owner holds as many as one may, or there is no place of any kind.
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
        /// Unix sockets, without those that were given up.
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

    /// How many sockets each owner holds, and the most that any of them holds.
    private struct Owners: Sendable {
        private(set) var counts: [UInt64?: Int] = [:]
        /// By number of sockets, how many owners hold that number.
        private var holders: [Int: Int] = [:]
        private(set) var most = 0

        func count(_ owner: UInt64?) -> Int { counts[owner] ?? 0 }

        /// Whether no owner holds over a sixteenth more: of two that hold nearly the same, either may be evicted from,
        /// so that a list of candidates stays of use.
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
    /// This many of each kind may come beyond `ordinary`: newcomers whose places are being cleared, Unix sockets,
    /// health checks, and health checks that are over.
    private let reserve: Int
    /// Health checks that each loop takes beyond `ordinary`.
    let reservePerLoop: Int
    private let counts = Guarded(Counts())
    /// The larger bodies under way.
    let bodies: ByteBudget
    /// The larger answers under way.
    let answers: ByteBudget

    /// `descriptors` is how many the process may open. Where they are few, half of them are for sockets.
    init(_ limits: ServerLimits, descriptors: Int, loops: Int) {
        self.limits = limits
        let sockets = max(1, descriptors - min(limits.reservedDescriptors, descriptors / 2))
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

    /// Where one more connection of `owner` finds its place.
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
            if !claim.isGivenUp { counts.change(claim.owner, by: -1, ownPlaces: reserve) }
        }
    }

    /// Makes a socket no longer count for its owner, as it is about to be closed for a newcomer. Returns false where
    /// other owners hold more by now.
    func giveUp(_ claim: inout SocketClaim) -> Bool {
        guard claim.kind != .reserved, !claim.isGivenUp else { return false }
        claim.isGivenUp = counts.withLock { counts in
            guard counts.owners.holdsMost(claim.owner) else { return false }
            counts.change(claim.owner, by: -1, ownPlaces: reserve)
            return true
        }
        return claim.isGivenUp
    }

    /// The ones of `sockets` whose owners hold most.
    func heldByLargestHolders<Socket>(_ sockets: [Socket], claim: (Socket) -> SocketClaim?) -> [Socket] {
        counts.withLock { counts in sockets.filter { claim($0).map { counts.owners.holdsMost($0.owner) } ?? false } }
    }

    /// Counts one more stream, unless there are too many.
    func takeStream() -> Bool {
        counts.withLock { counts in
            guard counts.streams < limits.streams else { return false }
            counts.streams += 1
            return true
        }
    }

    func giveBackStream() {
        counts.withLock { $0.streams -= 1 }
    }

    /// Counts one connection less. Called after `takeStream`.
    func connectionBecameStream() {
        counts.withLock { $0.connections -= 1 }
    }

    /// Whether there were at least `size` sockets at once, of which no more than half are left. True once for each such
    /// peak.
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
