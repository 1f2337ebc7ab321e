import HTTPServer
import TimerCore
import TimerService

/// Problems made from the refusals of other modules, and problems that are the same in each request.
extension Problem {
    /// Makes the problem that a service error is to a client.
    init(_ error: ServiceError, timer: [UInt8]) {
        switch error {
        case .refused(let refusal):
            self.init(refusal, timer: timer)
        case .storageUnavailable:
            self.init(.storageUnavailable, "storage takes no writes now; nothing was changed")
            outcome = "none"
            retryAfter = 1
        case .overloaded:
            self.init(.overloaded, "more changes wait for the disk than may; nothing was changed")
            outcome = "none"
            retryAfter = 1
        case .drained:
            self.init(.drained, "the server is drained and takes no changes until it is undrained; nothing was changed")
            outcome = "none"
            retryAfter = 5
        case .shuttingDown:
            self.init(.shuttingDown, "the server is stopping; nothing was changed")
            outcome = "none"
            retryAfter = 1
        }
    }

    private init(_ refusal: TimerRefusal, timer: [UInt8]) {
        switch refusal {
        case .notFound:
            self.init(.notFound, "there is no timer with this id")
        case .exists:
            self.init(.timerExists, "a timer with this id exists")
        case .illegalTransition(let command, let state, let restartable, let isWatchdog):
            self.init(.illegalTransition, "\(command.name) is not legal while the timer is \(state.name)")
            self.state = state
            self.command = "\(command.name)"
            allowed = Self.allowed(state, restartable, isWatchdog: isWatchdog)
        case .illegalChange(let state, let restartable, let isWatchdog):
            self.init(.illegalTransition, "the schedule can't be changed once the timer is \(state.name)")
            self.state = state
            command = "patch"
            allowed = Self.allowed(state, restartable, isWatchdog: isWatchdog)
        case .notAWatchdog(let state, let restartable):
            self.init(.notAWatchdog, "this timer is not a watchdog")
            self.state = state
            command = "kick"
            allowed = Self.allowed(state, restartable, isWatchdog: false)
        case .versionMismatch(let current):
            self.init(
                .versionMismatch,
                current.map { "the timer is at version v\($0)" } ?? "there is no timer to match a version")
            self.current = current
        case .invalidSchedule(let pointer, let reason):
            self.init(.invalidSchedule, reason, pointer: pointer)
        case .timerLimit(let limit):
            self.init(.timerLimit, "the server holds \(limit) timers already")
        }
        if !timer.isEmpty { self.timer = timer }
    }

    private static func allowed(
        _ state: TimerState, _ restartable: Bool, isWatchdog: Bool
    ) -> [TimerCommand] {
        TimerCommand.allCases.filter {
            TimerMachine.allows($0, in: state, restartable: restartable, isWatchdog: isWatchdog)
        }
    }

    /// The refusal of a request for whose answer there is no memory besides the answers under way.
    package static var tooManyAnswers: Problem {
        var problem = Problem(.overloaded, "larger answers than may be are under way; nothing was changed")
        problem.outcome = "none"
        problem.retryAfter = 1
        return problem
    }

    /// The requests that wait for a server hold as many places, or as many bytes, as they may.
    package static var tooManyWaiting: Problem {
        Problem(.overloaded, "too many requests wait for the node that answers; nothing was changed")
    }

    /// The refusal of a request whose connection is beyond the maximum of connections.
    static var tooManyConnections: Problem {
        var problem = Problem(
            .overloaded, "as many connections as may be are open: only health checks are answered; nothing was changed")
        problem.outcome = "none"
        problem.retryAfter = 1
        return problem
    }

    /// The refusal of a request for a delivery that does not exist.
    static var noDelivery: Problem { Problem(.notFound, "there is no delivery with this id") }

    /// The refusal of a request whose answer rests on records that were lost.
    static var lost: Problem {
        var problem = Problem(.storageUnavailable, "storage did not take the change; nothing of it stands")
        problem.outcome = "none"
        problem.retryAfter = 1
        return problem
    }

    /// Returns the refusal of a server that does not own the log.
    ///
    /// - Parameter owner: the URL of the node that owns the log; nil if it is unknown.
    package static func elsewhere(owner: String?) -> Problem {
        var problem = Problem(
            .ownerUnavailable,
            owner == nil
                ? "no node is known to answer for the timer; nothing was changed"
                : "another node answers for the timer; nothing was changed")
        problem.owner = owner
        problem.outcome = "none"
        problem.retryAfter = 1
        return problem
    }

    /// The refusal of a request that another server has forwarded and this one does not answer: the other one looks
    /// for the owner again.
    static var misdirectedByPeer: Problem {
        Problem(.misdirected, "this server does not answer for the timer; nothing was changed")
    }

    /// Returns the problem of a request that was forwarded to a node that is unreachable now, and
    /// may have carried it out.
    package static func ownerUnreachable(owner: String?) -> Problem {
        var problem = Problem(
            .ownerUnavailable,
            "the node that answers for the timer has gone; whether the change stands is not known")
        problem.owner = owner
        problem.outcome = "unknown"
        problem.retryAfter = 1
        return problem
    }

    /// The refusal while it is not known whether another node has taken the timers over.
    static var leaseOver: Problem {
        var problem = Problem(
            .storageUnavailable, "the storage has not confirmed in time that this server owns the timers")
        problem.outcome = "none"
        problem.retryAfter = 1
        return problem
    }

    /// Makes a refusal with 503 one of a run that may have made changes before, so that it no longer says that
    /// nothing was changed.
    mutating func markPartlyApplied() {
        guard (status ?? kind.status) == 503 else { return }
        detail = "the run was cut short; some of its changes may stand"
        outcome = "unknown"
    }

    /// The problem of a request whose outcome is not known, since storage took too long.
    static var unknownOutcome: Problem {
        var problem = Problem(.storageUnavailable, "storage has not answered; whether the change stands is not known")
        problem.outcome = "unknown"
        problem.retryAfter = 1
        return problem
    }

    /// Makes the problem that the server's own refusal is to a client.
    init(_ refusal: Refusal) {
        switch refusal {
        case .badRequest(let detail): self.init(.invalidRequest, detail)
        case .targetTooLong: self.init(.tooLarge, "the URL is longer than 4 KiB")
        case .headersTooLarge: self.init(.tooLarge, "the headers are larger than 8 KiB")
        case .late: self.init(.misdirected, "the request was held up on its way; nothing was changed")
        case .overloaded:
            self.init(.overloaded, "larger bodies than may be are under way; nothing was changed")
            outcome = "none"
            retryAfter = 1
        case .bodyTooLarge(let limit): self.init(.tooLarge, "the body is larger than \(limit) bytes")
        case .notImplemented(let detail): self.init(.notImplemented, detail)
        case .expectationFailed: self.init(.invalidRequest, "the only expectation served is 100-continue")
        case .internalError: self.init(.internalError, "the server failed to answer; this is a fault of its own")
        }
        status = refusal.status
    }
}
