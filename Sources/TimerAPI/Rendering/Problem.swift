import HTTPServer
import TimerCore
import TimerService
import WireJSON

/// The kinds of problem, each with a page of its own under `/problems/`.
enum ProblemKind: String, CaseIterable {
    case invalidRequest = "invalid-request"
    case invalidSchedule = "invalid-schedule"
    case unknownField = "unknown-field"
    case unsupportedMediaType = "unsupported-media-type"
    case tooLarge = "too-large"
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case illegalTransition = "illegal-transition"
    case notAWatchdog = "not-a-watchdog"
    case timerExists = "timer-exists"
    case versionMismatch = "version-mismatch"
    case idempotencyMismatch = "idempotency-mismatch"
    case idempotencyInProgress = "idempotency-in-progress"
    case timerLimit = "timer-limit"
    case streamLimit = "stream-limit"
    case eventsExpired = "events-expired"
    case overloaded
    case crossOrigin = "cross-origin"
    case misdirected
    case unauthorized
    case storageUnavailable = "storage-unavailable"
    case shuttingDown = "shutting-down"
    case notImplemented = "not-implemented"
    case internalError = "internal-error"

    /// The kind that a path component names.
    init?(slug: [UInt8]) { self.init(rawValue: String(decoding: slug, as: UTF8.self)) }

    /// The status code it usually comes with.
    var status: Int {
        switch self {
        case .invalidRequest, .invalidSchedule, .unknownField: 400
        case .unauthorized: 401
        case .crossOrigin: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .illegalTransition, .notAWatchdog, .timerExists, .idempotencyInProgress: 409
        case .eventsExpired: 410
        case .versionMismatch: 412
        case .tooLarge: 413
        case .unsupportedMediaType: 415
        case .misdirected: 421
        case .idempotencyMismatch: 422
        case .timerLimit: 429
        case .internalError: 500
        case .notImplemented: 501
        case .streamLimit, .overloaded, .storageUnavailable, .shuttingDown: 503
        }
    }

    /// One line, the same for each occurrence.
    var title: String {
        switch self {
        case .invalidRequest: "The request can't be understood"
        case .invalidSchedule: "The schedule can't work"
        case .unknownField: "There is no such field or parameter"
        case .unsupportedMediaType: "The body's media type is not taken here"
        case .tooLarge: "The request is too large"
        case .notFound: "There is nothing here"
        case .methodNotAllowed: "The method is not taken here"
        case .illegalTransition: "The timer's state does not allow that"
        case .notAWatchdog: "Only watchdogs can be kicked"
        case .timerExists: "The id is taken"
        case .versionMismatch: "The timer has moved on"
        case .idempotencyMismatch: "The idempotency key was used for another request"
        case .idempotencyInProgress: "The first request with this idempotency key is under way"
        case .timerLimit: "There are as many timers as may be"
        case .streamLimit: "There are as many streams as may be"
        case .eventsExpired: "Events after that point are no longer kept"
        case .overloaded: "More is under way than the server holds"
        case .crossOrigin: "Another site's page may not do that"
        case .misdirected: "The request was meant for another host"
        case .unauthorized: "A token is needed"
        case .storageUnavailable: "The disk takes no writes now"
        case .shuttingDown: "The server is stopping"
        case .notImplemented: "That is not there yet"
        case .internalError: "The server made a mistake"
        }
    }

    /// What a client should do about it, for the page.
    var advice: String {
        switch self {
        case .invalidRequest, .invalidSchedule:
            "Read `detail`; `pointer` is the JSON pointer of the part of the body at fault, `parameter` the query "
                + "parameter. Nothing was changed."
        case .unknownField:
            "Read `pointer` or `parameter` for the name; check its spelling against /openapi.yaml. Nothing was changed."
        case .unsupportedMediaType:
            "Send `Content-Type: application/json` (`curl --json` does); PATCH also takes "
                + "application/merge-patch+json, batch application/x-ndjson."
        case .tooLarge: "Send less: `detail` names the limit."
        case .notFound:
            "Check the path. A timer that ended is gone after its `retain`; `commands` lists the commands there are."
        case .methodNotAllowed: "Use a method that the `Allow` header names."
        case .illegalTransition:
            "`state` is where the timer is, `allowed` the commands that are legal there. Often another client was first."
        case .notAWatchdog: "Make the timer with `watchdog` to kick it."
        case .timerExists: "Choose another id, or replace the timer with PUT."
        case .versionMismatch: "Read the timer again and decide anew; `current` is its version."
        case .idempotencyMismatch: "Use a new key for a new request."
        case .idempotencyInProgress: "Repeat the request in a moment."
        case .timerLimit: "Delete timers, or start the server with a larger `--max-timers`."
        case .streamLimit: "Close streams, or start the server with a larger `--max-streams`."
        case .eventsExpired: "List the timers again, then follow from the list's `Event-Id`."
        case .overloaded: "Repeat the request after `Retry-After`. `outcome` is `none`: nothing stands."
        case .crossOrigin: "Call the API from a page of the same origin, or from outside of a browser."
        case .misdirected: "Use localhost or the address, start the server with `--allow-host`, or give it tokens."
        case .unauthorized: "Send `Authorization: Bearer` with a token of the server's token file."
        case .storageUnavailable:
            "Repeat the request after `Retry-After`. With `outcome` `none` nothing stands; with `unknown` repeat it "
                + "with its Idempotency-Key, or look."
        case .shuttingDown: "Repeat the request once the server is back. `outcome` is `none`: nothing stands."
        case .notImplemented: "`detail` names what the server does not do: send the request without it."
        case .internalError:
            "Look whether the change stands, and report the mistake: with the request and the server's log around it."
        }
    }
}

/// One problem of one request, after RFC 9457.
package struct Problem: Error {
    var kind: ProblemKind
    var detail: String
    /// The status code where it differs from the kind's usual one.
    var status: Int?
    /// JSON pointer of the part of the body at fault.
    var pointer: String?
    /// Name of the query parameter at fault.
    var parameter: String?
    /// The timer's id.
    var timer: [UInt8]?
    var state: TimerState?
    var command: String?
    var allowed: [TimerCommand]?
    /// Commands there are, where the path named none.
    var commands: [TimerCommand]?
    var didYouMean: String?
    var current: Int64?
    var outcome: String?
    var oldest: Int64?
    var newest: Int64?
    /// Value of the `Allow` header.
    var allow: String?
    /// Seconds for `Retry-After`.
    var retryAfter: Int?

    init(_ kind: ProblemKind, _ detail: String, pointer: String? = nil, parameter: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.pointer = pointer
        self.parameter = parameter
    }

    /// Writes the problem as a JSON object.
    func write(_ json: inout JSONWriter, instance: [UInt8], requestID: [UInt8]) {
        writeHead(&json, instance: instance)
        if !requestID.isEmpty {
            json.key("requestId")
            json.string(requestID)
        }
        writeTail(&json)
    }

    /// Writes the members before `requestId`.
    func writeHead(_ json: inout JSONWriter, instance: [UInt8]) {
        json.beginObject()
        json.key("type")
        json.string("/problems/\(kind.rawValue)")
        json.key("title")
        json.string(kind.title)
        json.member("status", Int64(status ?? kind.status))
        json.key("detail")
        json.string(Self.clipped(detail))
        if !instance.isEmpty {
            json.key("instance")
            json.string(instance)
        }
    }

    /// Writes the members behind `requestId`.
    func writeTail(_ json: inout JSONWriter) {
        writeText(&json, "pointer", pointer.map(Self.clipped))
        writeText(&json, "parameter", parameter)
        if let timer {
            json.key("timer")
            json.string(timer)
        }
        writeText(&json, "state", state.map { "\($0.name)" })
        writeText(&json, "command", command)
        writeCommands(&json, "allowed", allowed)
        writeCommands(&json, "commands", commands)
        writeText(&json, "didYouMean", didYouMean)
        if let current {
            json.member("current", current)
        }
        writeText(&json, "oldest", oldest.map(EventID.text))
        writeText(&json, "newest", newest.map(EventID.text))
        // Of what is refused for now nothing stands, unless the refusal says otherwise.
        writeText(&json, "outcome", outcome ?? ((status ?? kind.status) == 503 ? "none" : nil))
        json.endObject()
    }

    /// Names and words of the request stand in a detail and in a pointer: whatever is longer ends here.
    private static let longestText = 512

    private static func clipped(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(longestText))) + "…"
    }

    private func writeText(_ json: inout JSONWriter, _ name: StaticString, _ text: String?) {
        guard let text else { return }
        json.key(name)
        json.string(text)
    }

    private func writeCommands(_ json: inout JSONWriter, _ name: StaticString, _ commands: [TimerCommand]?) {
        guard let commands else { return }
        json.key(name)
        json.beginArray()
        for command in commands { json.string(command.name) }
        json.endArray()
    }
}

extension Problem {
    /// The problem that a service error is to a client.
    init(_ error: ServiceError, timer: [UInt8]) {
        switch error {
        case .refused(let refusal):
            self.init(refusal, timer: timer)
        case .storageUnavailable:
            self.init(.storageUnavailable, "the disk takes no writes now; nothing was changed")
            outcome = "none"
            retryAfter = 1
        case .overloaded:
            self.init(.overloaded, "more changes wait for the disk than may; nothing was changed")
            outcome = "none"
            retryAfter = 1
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

    /// The answers under way hold as much memory as they may.
    static var tooManyAnswers: Problem {
        var problem = Problem(.overloaded, "larger answers than may be are under way; nothing was changed")
        problem.outcome = "none"
        problem.retryAfter = 1
        return problem
    }

    /// All places for connections are taken.
    static var tooManyConnections: Problem {
        var problem = Problem(
            .overloaded, "as many connections as may be are open: only health checks are answered; nothing was changed")
        problem.outcome = "none"
        problem.retryAfter = 1
        return problem
    }

    /// There is no delivery to do it to.
    static var noDelivery: Problem { Problem(.notFound, "there is no delivery with this id") }

    /// The records the answer rests on are gone.
    static var lost: Problem {
        var problem = Problem(.storageUnavailable, "the disk did not take the change; nothing of it stands")
        problem.outcome = "none"
        problem.retryAfter = 1
        return problem
    }

    /// Turns a refusal of a run of several steps into one that does not promise that nothing stands.
    mutating func standsInPart() {
        guard (status ?? kind.status) == 503 else { return }
        detail = "the run was cut short; some of its changes may stand"
        outcome = "unknown"
    }

    /// Whether the change stands can't be told in time.
    static var unknownOutcome: Problem {
        var problem = Problem(.storageUnavailable, "the disk has not answered; whether the change stands is not known")
        problem.outcome = "unknown"
        problem.retryAfter = 1
        return problem
    }

    /// The problem that the server's own refusal is to a client.
    init(_ refusal: Refusal) {
        switch refusal {
        case .badRequest(let detail): self.init(.invalidRequest, detail)
        case .targetTooLong: self.init(.tooLarge, "the URL is longer than 4 KiB")
        case .headersTooLarge: self.init(.tooLarge, "the headers are larger than 8 KiB")
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
