/// Who comes in when all places are taken, and who goes for it.
extension LoopCore {
    /// Whether a connection from there may come in. Called right before `connectionStarted`.
    func admits(_ peer: SocketAddress?) -> Bool {
        nextKind = .connection
        switch quota.admission(for: peer?.owner) {
        case .free: return true
        case .instead:
            evict(othersLeft: neighbours)
            return true
        case .reserve:
            nextKind = .reserved
            return reserved.count < quota.reservePerLoop || giveUpReserved()
        case .refused: return false
        }
    }

    /// Closes sockets that other loops' newcomers need the places of.
    func takeEvictions() {
        for othersLeft in evictions.take() { evict(othersLeft: othersLeft) }
    }

    /// Closes a socket of one who holds most, or asks the next loop for it.
    private func evict(othersLeft: Int) {
        if evictHere() || othersLeft == 0 { return }
        nextEvictions?.ask(othersLeft: othersLeft - 1)
    }

    /// Returns false where no socket of this loop is of one who holds most.
    private func evictHere() -> Bool {
        for isNew in [false, true] {
            if isNew { candidates = listCandidates() }
            while let candidate = candidates.popLast() {
                if close(candidate) { return true }
            }
        }
        return false
    }

    /// The sockets of those who hold most, the next to go last: connections by how long they have been idle, then streams and
    /// polls, the youngest first, then connections by how long their requests have lasted.
    private func listCandidates() -> [EvictionCandidate] {
        let connections = quota.ofThoseWhoHoldMost(connections, claim: \.claim)
        func list(_ isListed: (Exchange.Stage) -> Bool) -> [EvictionCandidate] {
            connections.filter { isListed($0.stage) }.sorted { $0.since > $1.since }
                .map { .connection($0, since: $0.since) }
        }
        let streams = quota.ofThoseWhoHoldMost(sockets.all.filter { $0.isStream && $0.isOpen }, claim: \.claim)
        return list { $0 == .head || $0 == .body || $0 == .discarding || $0 == .sending }
            + streams.sorted { $0.adoptedAt < $1.adoptedAt }.map { .socket($0) } + list { $0 == .idle }
    }

    /// Returns false where it is no longer as it was listed, or others hold more by now.
    private func close(_ candidate: EvictionCandidate) -> Bool {
        switch candidate {
        case .connection(let exchange, let since):
            guard let connection = exchange.connection, exchange.since == since, exchange.giveUp() else { return false }
            connection.shutDown()
        case .socket(let socket):
            guard socket.isOpen, socket.giveUp() else { return false }
            socket.close()
        }
        return true
    }

    /// Closes the connection that has waited longest of those kept for health checks. Returns false where each has a request
    /// under way, or too many are about to close.
    private func giveUpReserved() -> Bool {
        guard reserved.count < 2 * quota.reservePerLoop,
            let oldest = reserved.first(where: { $0.stage == .idle && $0.claim?.isGivenUp == false })
        else { return false }
        oldest.claim?.isGivenUp = true
        oldest.connection?.shutDown()
        return true
    }
}
