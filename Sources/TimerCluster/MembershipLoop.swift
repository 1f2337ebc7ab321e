internal import Platform
public import TimerLog

/// Runs a `Membership` against a directory and a host of the log, on threads of its own.
///
/// One thread joins, beats and leaves, and does nothing else, as the lease depends on it. One makes all other
/// calls, and one adopts the log.
public final class MembershipLoop: Sendable {
    private static let longestPause: Int64 = 1_000_000_000

    /// The queues of calls, one for each of two threads.
    private enum Queue {
        case urgent, ordinary
    }

    /// The work of the host that takes long.
    private enum HostWork {
        case adopt(LogOwner)
        case release(patience: Int64)
    }

    /// The next work of a thread.
    private enum Work {
        case call(DirectoryCall)
        case time
        case stop
    }

    private struct State {
        var membership: Membership
        var calls: [Queue: [DirectoryCall]] = [:]
        var hostWork: HostWork?
        /// The functions that are to be told the outcome of the hand-over under way.
        var handOverEnded: [@Sendable (HandOverOutcome) -> Void] = []
        var isStopped = false

        mutating func next(_ queue: Queue) -> Work? {
            if isStopped { return .stop }
            guard calls[queue]?.isEmpty == false else { return nil }
            return (calls[queue]?.removeFirst()).map { .call($0) }
        }

        /// Queues the steps of the threads, and extends or revokes the lease. Returns the steps that the caller
        /// must do.
        mutating func dispatch(_ steps: [MembershipStep], _ lease: Lease) -> [MembershipStep] {
            steps.filter { step in
                switch step {
                case .call(let call): calls[call.isUrgent ? .urgent : .ordinary, default: []].append(call)
                case .adopt(let owner): hostWork = .adopt(owner)
                case .release(let patience): hostWork = .release(patience: patience)
                // The lease is changed under the lock, so that an extension never comes after a later revocation.
                case .extendLease(let end): lease.extend(until: end)
                case .revokeLease: lease.revoke()
                case .drop, .read, .handOverEnded, .report: return true
                }
                return false
            }
        }
    }

    private let state: Guarded<State>
    private let lease: Lease
    private let host: any LogHost
    private let makeDirectory: @Sendable () -> any ClusterDirectory
    private let now: @Sendable () -> ClusterInstant
    private let threads = Guarded<[Thread]>([])

    /// Makes a loop that does nothing yet.
    ///
    /// - Parameters:
    ///   - membership: a fresh membership.
    ///   - lease: extended and revoked as the membership says.
    ///   - now: the node's clocks; `lease` reads the same boot clock.
    ///   - makeDirectory: makes a directory for one thread.
    public init(
        _ membership: Membership, lease: Lease, host: any LogHost,
        now: @escaping @Sendable () -> ClusterInstant = ClusterInstant.current,
        makeDirectory: @escaping @Sendable () -> any ClusterDirectory
    ) {
        state = Guarded(State(membership: membership))
        self.lease = lease
        self.host = host
        self.now = now
        self.makeDirectory = makeDirectory
    }

    /// The state of the cluster. May be read on any thread.
    public var clusterState: ClusterState { state.withLock { $0.membership.clusterState } }

    /// Waits until the state of the cluster differs from `known`, and returns it; returns `known` after `seconds`.
    /// May be called on any thread.
    public func clusterState(otherThan known: ClusterState, within seconds: Double) -> ClusterState {
        let changed = state.wait(nanoseconds: Int64(seconds * 1e9)) { state in
            state.membership.clusterState == known ? nil : state.membership.clusterState
        }
        return changed ?? known
    }

    /// The URL at which this node is reached.
    public var url: String { state.withLock { $0.membership.profile.url } }

    /// Starts the threads. Call once.
    public func start() {
        threads.withLock { threads in
            threads.append(Thread(name: "beat") { self.runCalls(.urgent) })
            threads.append(Thread(name: "cluster") { self.runCalls(.ordinary) })
            threads.append(Thread(name: "adopt") { self.runHostWork() })
        }
    }

    /// Notes that an append was refused, as another node owns the log.
    public func fenced() { change { $0.fenced(at: $1) } }

    /// Notes that the node will stop soon: it no longer takes the log, and the next beat reports that.
    public func drain() { change { $0.drain(at: $1) } }

    /// Hands the log over to the node at `url`; nil: to the one that has read most of it, or as a hand-over under way does.
    ///
    /// - Parameters:
    ///   - patience: see `Membership.handOver`.
    ///   - ended: told the outcome, on any thread, also where the loop ends before that.
    public func handOver(to url: String?, patience: Int64, _ ended: @escaping @Sendable (HandOverOutcome) -> Void) {
        let (refusal, isFirst) = state.withLock { state -> (HandOverOutcome?, Bool) in
            if state.isStopped { return (.failed, false) }
            let isFirst = state.handOverEnded.isEmpty
            if !isFirst && url != nil { return (.refused(.underWay), false) }
            state.handOverEnded.append(ended)
            return (nil, isFirst)
        }
        if let refusal { return ended(refusal) }
        guard isFirst else { return }
        change { $0.handOver(to: url, patience: patience, at: $1) }
    }

    /// Drops the log, ends the session and then the threads. Waits for the directory up to `seconds`; if that does
    /// not answer, the other nodes wait until they miss this node's beats.
    ///
    /// - Parameter promised: position beyond which the node has promised nothing.
    public func leave(promised: Int64 = .max, seconds: Double) {
        change { $0.leave(promised: promised, at: $1) }
        _ = state.wait(nanoseconds: Int64(seconds * 1e9)) { $0.membership.hasLeft ? () : nil }
        abandon()
    }

    /// Ends the threads without a call to the directory, as a crash would. Waits for calls under way.
    public func abandon() {
        state.update { $0.isStopped = true }
        lease.revoke()
        let ended = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in ended { thread.join() }
        tellHandOver(.failed)
    }

    private func tellHandOver(_ outcome: HandOverOutcome) {
        let told = state.withLock { state in
            defer { state.handOverEnded = [] }
            return state.handOverEnded
        }
        for ended in told { ended(outcome) }
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
            case .drop:
                host.drop()
                change { $0.dropped(at: $1) }
            case .read(let end, let shown): host.read(through: end, shown: shown)
            case .handOverEnded(let outcome): tellHandOver(outcome)
            case .report(let event): host.report(event)
            case .call, .adopt, .release, .extendLease, .revokeLease: break
            }
        }
    }

    /// Makes the calls of one queue, one after the other, and wakes the membership in time.
    private func runCalls(_ queue: Queue) {
        let directory = makeDirectory()
        defer { directory.close() }
        while true {
            switch nextCall(queue) {
            case .call(let call):
                let answer = call.reporting(host.memory).perform(on: directory)
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

    private func runHostWork() {
        while let work = nextHostWork() {
            switch work {
            case .adopt(let owner):
                var failure: StoreError?
                do throws(StoreError) { try host.adopt(owner) } catch { failure = error }
                change { [failure] in $0.adopted(owner, failure, at: $1) }
            case .release(let patience):
                let claimed = host.release(patience: patience)
                change { $0.released(claimed, at: $1) }
            }
        }
    }

    /// Waits for work of the host, and returns it; nil once the loop is stopped.
    private func nextHostWork() -> HostWork? {
        state.wait { state in
            if state.isStopped { return .some(nil) }
            guard let work = state.hostWork.take() else { return nil }
            return .some(work)
        }
    }
}

/// The host of the log, which serves it while the node owns it, and may read it while another node does. Called on any
/// thread; `adopt`, `drop` and `release` never run at the same time.
public protocol LogHost: AnyObject, Sendable {
    /// Opens the log for `owner.session`, folds it and serves it. Takes as long as that needs.
    func adopt(_ owner: LogOwner) throws(StoreError)
    /// Stops serving the log at once: nothing of the log is shown once the call has returned.
    func drop()
    /// Ends the log, so that another node can have it: takes nothing more, waits until what was taken is on disk and
    /// drops it. Takes some seconds and `patience` at most, and as long as the log is being read for somebody.
    ///
    /// - Parameter patience: nanoseconds for which deliveries and streams under way are waited for at most.
    /// - Returns: position beyond which nothing was given out and shown; nil where the host has no log.
    func release(patience: Int64) -> Int64?
    /// How much of the log the node holds in memory, as the next beat reports it.
    var memory: LogMemory { get }
    /// Notes where the log of another node ends. Returns at once.
    ///
    /// - Parameter shown: position through which that node may have shown the log; nil where it is not known.
    func read(through end: Int64, shown: Int64?)
    /// Reports an event to the operator.
    func report(_ event: ClusterEvent)
}

extension ClusterInstant {
    /// Reads the clocks.
    @Sendable public static func current() -> ClusterInstant {
        ClusterInstant(boottime: Clocks.boottime(), realtime: Clocks.realtime())
    }
}
