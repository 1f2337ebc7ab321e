import TimerLog

/// Problems of a server that shares its storage with others.
extension Problem {
    /// Returns the refusal of a server that does not own the log.
    ///
    /// - Parameter owner: the URL of the node that owns the log; nil if it is unknown.
    package static func elsewhere(owner: String?) -> Problem {
        Problem(
            repeatable: .ownerUnavailable,
            owner == nil
                ? "no node is known to answer for the timer; nothing was changed"
                : "another node answers for the timer; nothing was changed", owner: owner)
    }

    /// The refusal of a request that another server has forwarded and this one does not answer: the other one looks
    /// for the owner again.
    static var misdirectedByPeer: Problem {
        Problem(.misdirected, "this server does not answer for the timer; nothing was changed")
    }

    /// Returns the refusal of a hand-over to the server at `url`; nil: to any.
    static func noSuccessor(_ refusal: HandOverRefusal, url: String?) -> Problem {
        let detail =
            switch refusal {
            case .notOwner, .isOwner: "this server does not have the timers"
            case .underWay: "a hand-over is under way"
            case .unknownServer: "no server of the cluster has the URL `\(url ?? "")`"
            case .nobodyFit where url != nil: "the server has not read the timers, or is about to stop"
            case .nobodyFit: "no other server has read the timers"
            case .tooFarBehind: "the server did not read the newest changes in time"
            case .unreachable: "the database does not answer"
            }
        return Problem(.noSuccessor, detail)
    }

    /// The answer to a hand-over whose outcome is not known: the database did not answer.
    static var handOverUnknown: Problem {
        Problem(
            repeatable: .ownerUnavailable,
            "the database did not confirm the hand-over; the servers find out which of them has the timers",
            outcome: "unknown")
    }
}
