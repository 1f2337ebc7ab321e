import Platform

/// How many sockets the server holds, in all loops, and who holds them. Any thread.
///
/// An address may hold as many as there are while nobody else comes. Once all places are taken, a newcomer that holds fewer
/// than another gets a place of one that holds most. So nobody who holds little is kept out by those who hold much.
final class SocketQuota: Sendable {
    /// Whether a connection may come in.
    enum Admission: Equatable {
        /// There is a place for it.
        case free
        /// A socket of one that holds most is to be closed for it.
        case instead
        /// Only among those kept for health checks.
        case reserve
        /// Its address holds as many as one may, or there is no place of any kind.
        case refused
    }

    private struct Counts {
        var connections = 0
        var streams = 0
        var reserved = 0
        var forgottenAnswers = 0
        /// Most sockets at once since a crowd had last gone.
        var crowd = 0
        var owners = Owners()
        /// Unix sockets, those aside that were given up.
        var local = 0

        /// All but those kept for health checks.
        var ordinary: Int { connections + streams }

        /// Counts one more, or one fewer, for `owner`. Unix sockets with places of their own count for nobody.
        mutating func change(_ owner: UInt64?, by difference: Int, ownPlaces: Int) {
            if owner == nil {
                local += difference
                guard max(local, local - difference) > ownPlaces else { return }
            }
            owners.change(owner, by: difference)
        }
    }

    /// How many sockets each owner holds; the most that any holds is known at once.
    private struct Owners {
        private(set) var counts: [UInt64?: Int] = [:]
        /// How many owners hold so many sockets.
        private var holders: [Int: Int] = [:]
        private(set) var most = 0

        func count(_ owner: UInt64?) -> Int { counts[owner] ?? 0 }

        /// Whether nobody holds more, or only a sixteenth more: of two that hold nearly the same, neither has to be looked for
        /// anew each time.
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
    /// Connections and streams, those aside that come in beyond this number.
    private let ordinary: Int
    /// So many each may come beyond it: newcomers whose places are being cleared, Unix sockets, health checks, and health
    /// checks that are over.
    private let reserve: Int
    /// Health checks that each loop takes beyond it.
    let reservePerLoop: Int
    private let guarded: Guarded
    /// Of the larger bodies under way.
    let bodies: ByteBudget
    /// Of the larger answers under way.
    let answers: ByteBudget

    /// The counts, which only the holder of the lock touches.
    private final class Guarded: @unchecked Sendable {  // unchecked: every access is inside `lock`
        let lock = Lock()
        private var counts = Counts()

        func use<Result>(_ body: (inout Counts) -> Result) -> Result {
            lock.withLock { body(&counts) }
        }
    }

    /// `descriptors` is how many the process may open; where those are few, half of them are for sockets.
    init(_ limits: ServerLimits, descriptors: Int, loops: Int) {
        self.limits = limits
        let sockets = max(1, descriptors - min(limits.reservedDescriptors, descriptors / 2))
        reserve = min(limits.reservedConnections, sockets / 8)
        ordinary = max(1, min(limits.connections, sockets - 4 * reserve))
        reservePerLoop = max(1, reserve / loops)
        guarded = Guarded()
        bodies = ByteBudget(limits.bodyBytes)
        answers = ByteBudget(limits.answerBytes)
    }

    /// Most sockets there can be.
    var most: Int { ordinary + 4 * reserve }

    var connections: Int { guarded.use { $0.connections + $0.reserved } }
    var streams: Int { guarded.use { $0.streams } }
    var forgottenAnswers: Int { guarded.use { $0.forgottenAnswers } }

    /// Whether one more connection of `owner` may come.
    func admission(for owner: UInt64?) -> Admission {
        guarded.use { counts in
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
        guarded.use { counts in
            guard claim.kind != .reserved else { return counts.reserved += 1 }
            counts.connections += 1
            counts.crowd = max(counts.crowd, counts.ordinary)
            counts.change(claim.owner, by: 1, ownPlaces: reserve)
        }
    }

    func went(_ claim: SocketClaim) {
        guarded.use { counts in
            switch claim.kind {
            case .reserved: return counts.reserved -= 1
            case .connection: counts.connections -= 1
            case .stream: counts.streams -= 1
            }
            if !claim.isGivenUp { counts.change(claim.owner, by: -1, ownPlaces: reserve) }
        }
    }

    /// Has a socket no longer count for its owner, as it is about to be closed for another's. Returns false where others hold
    /// more by now.
    func giveUp(_ claim: inout SocketClaim) -> Bool {
        guard claim.kind != .reserved, !claim.isGivenUp else { return false }
        claim.isGivenUp = guarded.use { counts in
            guard counts.owners.holdsMost(claim.owner) else { return false }
            counts.change(claim.owner, by: -1, ownPlaces: reserve)
            return true
        }
        return claim.isGivenUp
    }

    /// Those of `sockets` whose owners hold most.
    func ofThoseWhoHoldMost<Socket>(_ sockets: [Socket], claim: (Socket) -> SocketClaim?) -> [Socket] {
        guarded.use { counts in sockets.filter { claim($0).map { counts.owners.holdsMost($0.owner) } ?? false } }
    }

    /// One more stream, if that may be.
    func takeStream() -> Bool {
        guarded.use { counts in
            guard counts.streams < limits.streams else { return false }
            counts.streams += 1
            return true
        }
    }

    func giveBackStream() {
        guarded.use { $0.streams -= 1 }
    }

    /// After `takeStream`.
    func connectionBecameStream() {
        guarded.use { $0.connections -= 1 }
    }

    /// Whether there were at least `size` sockets at once, of which no more than half are left. True once for each crowd.
    func crowdHasGone(of size: Int) -> Bool {
        guarded.use { counts in
            guard counts.crowd >= size, counts.ordinary <= counts.crowd / 2 else { return false }
            counts.crowd = counts.ordinary
            return true
        }
    }

    func answerWasForgotten() {
        guarded.use { $0.forgottenAnswers += 1 }
    }
}
