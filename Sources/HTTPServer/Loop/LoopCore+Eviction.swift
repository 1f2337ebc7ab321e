import Platform

/// Eviction: the choice of the sockets that are closed for newcomers when all places are taken.
extension LoopCore {
    /// Decides whether a connection from `peer` is accepted, and evicts another socket where the place of one is
    /// needed. Called right before `connectionStarted`.
    func admits(_ peer: SocketAddress?) -> Bool {
        nextKind = .connection
        switch quota.placement(for: peer?.owner) {
        case .free: return true
        case .instead:
            evict(othersLeft: otherLoops)
            return true
        case .reserve:
            nextKind = .reserved
            return reservedCount < quota.reservePerLoop || evictReserved()
        case .refused: return false
        }
    }

    /// The claim of a new connection from `peer`, which counts from now on; nil where it is not accepted.
    func claim(for peer: SocketAddress) -> SocketClaim? {
        guard admits(peer) else { return nil }
        let claim = SocketClaim(owner: peer.owner, kind: nextKind)
        quota.came(claim)
        return claim
    }

    /// Closes sockets whose places are needed for other loops' newcomers.
    func takeEvictions() {
        for othersLeft in evictions.take() { evict(othersLeft: othersLeft) }
    }

    /// Closes a socket of an address that holds most, or asks the next loop to do so.
    private func evict(othersLeft: Int) {
        if evictHere() || othersLeft == 0 { return }
        nextEvictions?.ask(othersLeft: othersLeft - 1)
    }

    /// Closes a socket of this loop whose address holds most. Returns false where the loop has none.
    private func evictHere() -> Bool {
        for isNew in [false, true] {
            if isNew { candidates = listCandidates() }
            while let candidate = candidates.popLast() {
                if close(candidate) { return true }
            }
        }
        return false
    }

    /// The sockets of the addresses that hold most, in the reverse order of their eviction: secure connections without
    /// a request go first, the oldest before the others, then idle connections, the longest idle one before the
    /// others, then streams and parked answers, the youngest first, then connections with a request, the oldest first.
    private func listCandidates() -> [EvictionCandidate] {
        let connections = quota.heldByLargestHolders(connections, claim: \.claim)
        func list(_ isListed: (Exchange.Stage) -> Bool) -> [EvictionCandidate] {
            connections.filter { isListed($0.stage) }.sorted { $0.since > $1.since }
                .map { .connection($0, since: $0.since) }
        }
        let beginners = quota.heldByLargestHolders(secure?.beginners ?? [], claim: \.claim)
            .sorted { $0.startedAt > $1.startedAt }.map { EvictionCandidate.beginner($0) }
        let streams = quota.heldByLargestHolders(sockets.all.filter { $0.isStream && $0.isOpen }, claim: \.claim)
        return list { $0 == .head || $0 == .body || $0 == .discarding || $0 == .sending }
            + streams.sorted { $0.adoptedAt < $1.adoptedAt }.map { .socket($0) } + list { $0 == .idle } + beginners
    }

    /// Closes the candidate's socket. Returns false where the candidate is out of date, or other addresses hold
    /// more by now.
    private func close(_ candidate: EvictionCandidate) -> Bool {
        switch candidate {
        case .connection(let exchange, let since):
            guard exchange.connection != nil, exchange.since == since, exchange.stopCounting() else { return false }
            exchange.cutOff()
        case .socket(let socket):
            guard socket.isOpen, socket.stopCounting() else { return false }
            socket.close()
        case .beginner(let connection):
            guard connection.isBeginning, connection.stopCounting() else { return false }
            connection.close()
        }
        return true
    }

    /// The connections of the reserve.
    private var reservedCount: Int { reserved.count + (secure?.reserved.count ?? 0) }

    /// Closes the oldest idle connection among those kept for health checks. Returns false where each has a request
    /// under way, or too many are about to close.
    private func evictReserved() -> Bool {
        if let oldest = secure?.reserved.first {
            oldest.close()
            return true
        }
        guard reserved.count < 2 * quota.reservePerLoop,
            let oldest = reserved.first(where: { $0.stage == .idle && $0.claim?.isEvicted == false })
        else { return false }
        oldest.claim?.isEvicted = true
        oldest.cutOff()
        return true
    }
}

/// A socket that may be closed for a newcomer. `since` is the instant at which a connection entered its stage: a
/// candidate is out of date once its connection has another.
enum EvictionCandidate {
    case connection(Exchange, since: Int64)
    case socket(DetachedSocket)
    case beginner(SecureConnection)
}

/// A loop's inbox for eviction requests: other loops ask it to close a socket, so that a newcomer of theirs gets
/// its place. May be used on any thread.
final class EvictionInbox: Sendable {
    /// The requests that wait: for each, how many loops may still be asked after this one.
    private let asks = Guarded<[Int]>([])
    private let loop: Loop

    init(_ loop: Loop) { self.loop = loop }

    /// Leaves a request, and wakes the loop.
    func ask(othersLeft: Int) {
        asks.withLock { $0.append(othersLeft) }
        loop.wake()
    }

    /// Takes the requests that were left.
    func take() -> [Int] {
        asks.withLock { asks in
            defer { asks = [] }
            return asks
        }
    }
}
