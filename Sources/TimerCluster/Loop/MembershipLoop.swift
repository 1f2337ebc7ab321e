internal import Platform
public import TimerLog

/// Runs a `Membership` against a directory and a host of partitions, on threads of its own.
///
/// One thread beats and does nothing else; the lease rests on it. Others look after the map, take partitions and adopt them.
public final class MembershipLoop: Sendable {
    /// How many threads take partitions, each with a directory of its own while there are any to take.
    static let takers = 3

    private static let longestPause: Int64 = 1_000_000_000

    /// What calls wait for, each kind for threads of its own.
    private enum Queue {
        case urgent, ordinary, takes
    }

    /// What a thread does next.
    private enum Work {
        case call(DirectoryCall)
        case time
        case stop
    }

    private struct State {
        var membership: Membership
        var calls: [Queue: [DirectoryCall]] = [:]
        var adoptions: [PartitionOwner] = []
        var isStopped = false

        mutating func next(_ queue: Queue) -> Work? {
            if isStopped { return .stop }
            guard calls[queue]?.isEmpty == false else { return nil }
            return (calls[queue]?.removeFirst()).map { .call($0) }
        }

        /// Hands out what `steps` ask of threads; what is left is done by the caller.
        mutating func dispatch(_ steps: [MembershipStep], _ lease: Lease) -> [MembershipStep] {
            steps.filter { step in
                switch step {
                case .call(let call):
                    var queue = call.isUrgent ? Queue.urgent : .ordinary
                    if case .take = call.request { queue = .takes }
                    calls[queue, default: []].append(call)
                case .adopt(let owner): adoptions.append(owner)
                // Under the lock, so that an extension never comes after a later revocation.
                case .extendLease(let end, let promised): lease.extend(until: end, promised: promised)
                case .revokeLease: lease.revoke()
                case .drop, .report: return true
                }
                return false
            }
        }
    }

    private let state: Guarded<State>
    private let lease: Lease
    private let host: any PartitionHost
    private let makeDirectory: @Sendable () -> any ClusterDirectory
    private let now: @Sendable () -> ClusterInstant
    private let threads = Guarded<[Thread]>([])

    /// Makes a loop that does nothing yet.
    ///
    /// - Parameters:
    ///   - membership: fresh.
    ///   - lease: extended and revoked as the membership says.
    ///   - now: the node's clocks; `lease` reads the same boot clock.
    ///   - makeDirectory: makes a directory for one thread.
    public init(
        _ membership: Membership, lease: Lease, host: any PartitionHost,
        now: @escaping @Sendable () -> ClusterInstant = ClusterInstant.current,
        makeDirectory: @escaping @Sendable () -> any ClusterDirectory
    ) {
        state = Guarded(State(membership: membership))
        self.lease = lease
        self.host = host
        self.now = now
        self.makeDirectory = makeDirectory
    }

    /// How the cluster stands. Any thread.
    public var standing: ClusterStanding { state.withLock { $0.membership.standing } }

    /// How the cluster stands once that differs from `known`; as it stands after `seconds` at the latest. Any thread.
    public func standing(otherThan known: ClusterStanding, within seconds: Double) -> ClusterStanding {
        let changed = state.wait(nanoseconds: Int64(seconds * 1e9)) { state in
            state.membership.standing == known ? nil : state.membership.standing
        }
        return changed ?? known
    }

    /// Where this node is reached.
    public var url: String { state.withLock { $0.membership.profile.url } }

    /// Starts the threads. Call once.
    ///
    /// - Parameter adopters: how many partitions are adopted at once.
    public func start(adopters: Int) {
        threads.withLock { threads in
            threads.append(Thread(name: "beat") { self.runCalls(.urgent) })
            threads.append(Thread(name: "cluster") { self.runCalls(.ordinary) })
            for _ in 0..<Self.takers {
                threads.append(Thread(name: "take") { self.runCalls(.takes) })
            }
            for _ in 0..<max(1, adopters) { threads.append(Thread(name: "adopt") { self.runAdoptions() }) }
        }
    }

    /// An append to a partition was refused, as another node owns it.
    public func fenced(_ partition: Int) { change { $0.fenced(partition, at: $1) } }

    /// The node is to stop soon: it takes nothing more, and the others learn so.
    public func drain() { change { $0.drain(at: $1) } }

    /// Drops every partition, ends the session and then the threads. Waits for the directory up to `seconds`; if it does not
    /// answer, the others wait until the node's beats are missed.
    ///
    /// - Parameter promised: position beyond which none of its partitions has promised anything.
    public func leave(promised: Int64 = .max, seconds: Double) {
        change { $0.leave(promised: promised, at: $1) }
        _ = state.wait(nanoseconds: Int64(seconds * 1e9)) { $0.membership.hasLeft ? () : nil }
        abandon()
    }

    /// Ends the threads without a word to the directory, as a crash would. Calls under way are waited for.
    public func abandon() {
        state.update { $0.isStopped = true }
        lease.revoke()
        let ended = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in ended { thread.join() }
    }

    private func change(_ body: (inout Membership, ClusterInstant) -> [MembershipStep]) {
        let rest = state.update { state in
            if state.isStopped { return [MembershipStep]() }
            return state.dispatch(body(&state.membership, now()), lease)
        }
        perform(rest)
    }

    private func perform(_ steps: [MembershipStep]) {
        for step in steps {
            switch step {
            case .drop(let partitions):
                host.drop(partitions)
                change { $0.dropped(partitions, at: $1) }
            case .report(let event): host.report(event)
            case .call, .adopt, .extendLease, .revokeLease: break
            }
        }
    }

    /// Makes the calls of one queue, one after the other; of ordinary and urgent ones also wakes the membership in time.
    private func runCalls(_ queue: Queue) {
        let directory = makeDirectory()
        defer { directory.close() }
        while true {
            switch queue == .takes ? nextTake(directory) : nextCall(queue) {
            case .call(let call):
                let answer = call.perform(on: directory)
                change { $0.answered(call, answer, at: $1) }
            case .time: change { $0.wake(at: $1) }
            case .stop: return
            }
        }
    }

    private func nextCall(_ queue: Queue) -> Work {
        let pause = state.withLock { max(0, min($0.membership.nextWake - now().boottime, Self.longestPause)) }
        let work = state.wait(nanoseconds: pause) { state -> Work? in
            state.next(queue) ?? (state.membership.nextWake <= now().boottime ? .time : nil)
        }
        return work ?? .time
    }

    /// Closes the directory while there is nothing to take.
    private func nextTake(_ directory: any ClusterDirectory) -> Work {
        if let work = state.wait(nanoseconds: Self.longestPause, { $0.next(.takes) }) { return work }
        directory.close()
        return state.wait { $0.next(.takes) }
    }

    private func runAdoptions() {
        while let owner = nextAdoption() {
            var failure: StoreError?
            do throws(StoreError) { try host.adopt(owner) } catch { failure = error }
            change { [failure] in $0.adopted(owner, failure, at: $1) }
        }
    }

    /// Waits for a partition to adopt; nil once the loop is stopped.
    private func nextAdoption() -> PartitionOwner? {
        state.wait { state in
            if state.isStopped { return .some(nil) }
            return state.adoptions.isEmpty ? nil : .some(state.adoptions.removeFirst())
        }
    }
}

extension ClusterInstant {
    /// What the clocks show now.
    @Sendable public static func current() -> ClusterInstant {
        ClusterInstant(boottime: Clocks.boottime(), realtime: Clocks.realtime())
    }
}
