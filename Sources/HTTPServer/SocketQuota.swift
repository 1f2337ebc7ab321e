import Platform

/// How many sockets the server holds, in all loops. Any thread.
final class SocketQuota: Sendable {
    private struct Counts {
        var connections = 0
        var streams = 0
        var forgottenAnswers = 0
        /// Most sockets at once since a crowd had last gone.
        var crowd = 0
        var byOwner: [UInt64: Int] = [:]
    }

    private let limits: ServerLimits
    /// Sockets that the process's descriptors allow.
    private let sockets: Int
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
    init(_ limits: ServerLimits, descriptors: Int) {
        self.limits = limits
        sockets = max(1, descriptors - min(limits.reservedDescriptors, descriptors / 2))
        guarded = Guarded()
        bodies = ByteBudget(limits.bodyBytes)
        answers = ByteBudget(limits.answerBytes)
    }

    var connections: Int { guarded.use { $0.connections } }
    var streams: Int { guarded.use { $0.streams } }
    var forgottenAnswers: Int { guarded.use { $0.forgottenAnswers } }

    /// Whether one more connection may come from there.
    func admits(_ peer: SocketAddress?) -> Bool {
        guarded.use { counts in
            guard counts.connections < limits.connections, counts.connections + counts.streams < sockets else {
                return false
            }
            guard let peer else { return true }
            return counts.byOwner[peer.owner, default: 0] < limits.connectionsPerAddress
        }
    }

    func connectionCame(_ peer: SocketAddress?) {
        guarded.use { counts in
            counts.connections += 1
            counts.crowd = max(counts.crowd, counts.connections + counts.streams)
            if let peer { counts.byOwner[peer.owner, default: 0] += 1 }
        }
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

    func socketWent(_ peer: SocketAddress?, isStream: Bool) {
        guarded.use { counts in
            if isStream { counts.streams -= 1 } else { counts.connections -= 1 }
            guard let peer, let count = counts.byOwner[peer.owner] else { return }
            counts.byOwner[peer.owner] = count > 1 ? count - 1 : nil
        }
    }

    /// Whether there were at least `size` sockets at once, of which no more than half are left. True once for each crowd.
    func crowdHasGone(of size: Int) -> Bool {
        guarded.use { counts in
            let sockets = counts.connections + counts.streams
            guard counts.crowd >= size, sockets <= counts.crowd / 2 else { return false }
            counts.crowd = sockets
            return true
        }
    }

    func answerWasForgotten() {
        guarded.use { $0.forgottenAnswers += 1 }
    }
}
