public import TimerLog

/// A call to the directory that a membership asks for.
public struct DirectoryCall: Sendable, Equatable {
    /// The method to call, with its parameters.
    public enum Request: Sendable, Equatable {
        case join(ClusterNode)
        case beat(NodeBeat)
        case leave(promised: Int64)
        case end(ClusterNode)
        case take(TakeOrder)
        case endConnections(of: Int64)
        case announce(format: Int)
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

    /// Makes the call to `directory`, and waits for its answer.
    public func perform(on directory: any ClusterDirectory) -> DirectoryAnswer {
        do throws(StoreError) {
            switch request {
            case .join(let node): try directory.join(node)
            case .beat(let beat): return .view(try directory.beat(beat))
            case .leave(let promised): try directory.leave(session, promised: promised)
            case .end(let node): return .ended(try directory.end(node.session, at: node.beat))
            case .take(let order): return .take(try directory.take(order))
            case .endConnections(let session): return .count(try directory.endConnections(of: session))
            case .announce(let format): try directory.announce(format: format)
            case .forget(let position): return .count(try directory.forget(promisedBefore: position))
            }
            return .done
        } catch {
            return .failed(error)
        }
    }
}
