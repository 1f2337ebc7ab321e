public import TimerLog

/// A step that a membership asks for. Steps are done in order.
public enum MembershipStep: Sendable, Equatable {
    /// Ask the directory; the answer goes to `Membership.answered`.
    case call(DirectoryCall)
    /// The lease lasts until this instant, in nanoseconds since boot.
    case extendLease(until: Int64)
    /// The lease is over.
    case revokeLease
    /// Open the log and serve it; the outcome goes to `Membership.adopted`.
    case adopt(LogOwner)
    /// Stop serving the log at once, then call `Membership.dropped`.
    case drop
    /// End the log, so that another node can have it, and wait up to `patience` nanoseconds for what is under way beside
    /// requests; the outcome goes to `Membership.released`.
    case release(patience: Int64)
    /// A hand-over has ended.
    case handOverEnded(HandOverOutcome)
    /// The log of another node ends here: a standby reads on. Its owner holds all records through `shown`, and may have
    /// shown them; nil where that is not known.
    case read(through: Int64, shown: Int64?)
    /// Report to the operator.
    case report(ClusterEvent)
}

/// A call to the directory that a membership asks for.
public struct DirectoryCall: Sendable, Equatable {
    /// The method to call, with its parameters.
    public enum Request: Sendable, Equatable {
        case join(ClusterNode)
        case beat(NodeBeat)
        case leave(promised: Int64)
        case end(ClusterNode)
        case take(TakeOrder)
        case give(TakeOrder)
        case endConnections(of: Int64)
        case forget(promisedBefore: Int64)
    }

    /// The node's session.
    public var session: Int64
    /// The instant at which the call was asked for; it is sent after that.
    public var issuedAt: ClusterInstant
    /// The method to call.
    public var request: Request

    /// Whether the lease depends on the call.
    public var isUrgent: Bool {
        switch request {
        case .join, .beat, .leave: true
        default: false
        }
    }

    /// Returns the call as it is sent: a beat reports how much of the log the node holds in memory.
    public func reporting(_ memory: LogMemory) -> DirectoryCall {
        guard case .beat(var beat) = request else { return self }
        beat.memory = memory
        var call = self
        call.request = .beat(beat)
        return call
    }

    /// Makes the call to `directory`, and waits for its answer.
    public func perform(on directory: any ClusterDirectory) -> DirectoryAnswer {
        do throws(StoreError) {
            switch request {
            case .join(let node): try directory.join(node)
            case .beat(let beat): return .view(try directory.beat(beat))
            case .leave(let promised): try directory.leave(session, promised: promised)
            case .end(let node): return .ended(try directory.end(node.session, at: node.beat))
            case .take(let order): return .take(try directory.take(order))
            case .give(let order): return .take(try directory.give(order))
            case .endConnections(let session): return .count(try directory.endConnections(of: session))
            case .forget(let position): return .count(try directory.forget(promisedBefore: position))
            }
            return .done
        } catch {
            return .failed(error)
        }
    }
}

/// The outcome of a call to the directory.
public enum DirectoryAnswer: Sendable, Equatable {
    case done
    case view(ClusterView)
    case ended(Bool)
    case take(TakeOutcome)
    case count(Int)
    /// The call failed; it may have had its effect all the same.
    case failed(StoreError)
}

/// An event that the operator of a node may want to know of.
public enum ClusterEvent: Sendable, Equatable {
    /// The node has entered a session, and beats.
    case joined(session: Int64)
    /// Another node owns the log.
    case ownedElsewhere(owner: String)
    /// The node has taken the log.
    case took
    /// The log was taken from the node.
    case fenced
    /// The node has given the log to the node at the URL.
    case handedOver(to: String)
    /// The node has ended the log to hand it over, and it is not known whether another node owns it now.
    case handOverFailed
    /// The node owns the log and can't open it; it tries again.
    case adoptionFailed(StoreError)
    /// The directory does not answer.
    case unreachable(StoreError)
    /// No beat has succeeded for so long that another node may have taken over: nothing is shown.
    case leaseLost
    /// The lease is valid again; nobody had taken over.
    case leaseRegained
    /// This node's session was ended by another node, which saw no beat.
    case sessionEnded(session: Int64)
    /// The node ends its session, for `reason`, and begins a new one.
    case sessionDropped(session: Int64, reason: String)
    /// This node has ended the session of another, whose beats had stopped.
    case ended(ClusterNode)
    /// Connections of an ended session that blocked a take-over were closed.
    case connectionsEnded(session: Int64, count: Int)
    /// The node's calendar is off by so many nanoseconds; `leaves` where the calendars of others agree, so that the
    /// node must not own the log.
    case skewed(Int64, leaves: Bool)
    /// The node's calendar is right again.
    case skewGone
    /// The log may hold rows of a newer format than the node reads, so the node leaves.
    case formatTooNew(Int)
}
