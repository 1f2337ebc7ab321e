import HTTPServer
import TimerCore
import TimerService
import WireJSON

/// One problem of one request, after RFC 9457.
package struct Problem: Error {
    var kind: ProblemKind
    package var detail: String
    /// The status code, if it differs from the kind's usual one.
    var status: Int?
    /// The JSON pointer of the part of the body at fault.
    var pointer: String?
    /// The number of the line of an import at fault, from 1; blank lines do not count.
    var line: Int?
    /// The name of the query parameter at fault.
    var parameter: String?
    /// The timer's id.
    var timer: [UInt8]?
    var state: TimerState?
    var command: String?
    var allowed: [TimerCommand]?
    /// The names of the commands that exist, if the path named none of them.
    var commands: [String]?
    var didYouMean: String?
    /// The scope that the request takes and the key lacks.
    var scope: StaticString?
    /// The beginning of the ids of the timers that the key is for.
    var idPrefix: [UInt8]?
    /// Whether the credential at fault is that of a server which forwards, and not that of a client.
    var isOfServer = false
    var current: Int64?
    /// The number of timers that go by the calendar that was to be deleted.
    var timers: Int?
    var outcome: String?
    var oldest: EventID?
    var newest: EventID?
    /// The URL of the node that answers for the timer.
    var owner: String?
    /// The value of the `Allow` header.
    var allow: String?
    /// The seconds for `Retry-After`.
    var retryAfter: Int?

    init(_ kind: ProblemKind, _ detail: String, pointer: String? = nil, parameter: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.pointer = pointer
        self.parameter = parameter
    }

    /// Leaves out what only a client that may read the timer is told.
    mutating func hideState() {
        guard state != nil else { return }
        (state, allowed) = (nil, nil)
        if kind == .illegalTransition { detail = "the timer's state does not allow that" }
    }

    /// Writes the problem as a JSON object.
    func write(_ json: inout JSONWriter, instance: [UInt8], requestID: [UInt8]) {
        writeHead(&json, instance: instance)
        if !requestID.isEmpty {
            json.member("requestId", text: requestID)
        }
        writeTail(&json)
    }

    /// Writes the members before `requestId`.
    func writeHead(_ json: inout JSONWriter, instance: [UInt8]) {
        json.beginObject()
        json.member("type", text: "/problems/\(kind.rawValue)")
        json.member("title", text: kind.title)
        json.member("status", Int64(status ?? kind.status))
        json.member("detail", text: Self.clipped(detail))
        if !instance.isEmpty {
            json.member("instance", text: instance)
        }
    }

    /// Writes the members after `requestId`.
    func writeTail(_ json: inout JSONWriter) {
        writeText(&json, "pointer", pointer.map(Self.clipped))
        if let line { json.member("line", Int64(line)) }
        writeText(&json, "parameter", parameter)
        if let timer {
            json.member("timer", text: timer)
        }
        writeText(&json, "state", state.map { "\($0.name)" })
        writeText(&json, "command", command)
        writeTexts(&json, "allowed", allowed?.map { "\($0.name)" })
        writeTexts(&json, "commands", commands)
        writeText(&json, "didYouMean", didYouMean)
        if let scope { json.member("scope", scope) }
        if let idPrefix {
            json.key("idPrefix")
            json.string(idPrefix)
        }
        if let current {
            json.member("current", current)
        }
        if let timers { json.member("timers", Int64(timers)) }
        writeText(&json, "oldest", oldest?.text)
        writeText(&json, "newest", newest?.text)
        writeText(&json, "owner", owner)
        // A refusal with 503 has changed nothing, unless its outcome says otherwise.
        writeText(&json, "outcome", outcome ?? ((status ?? kind.status) == 503 ? "none" : nil))
        json.endObject()
    }

    /// The characters after which a detail or a pointer is cut, since they repeat names and words of the request.
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

    private func writeTexts(_ json: inout JSONWriter, _ name: StaticString, _ texts: [String]?) {
        guard let texts else { return }
        json.key(name)
        json.beginArray()
        for text in texts { json.string(text) }
        json.endArray()
    }
}

/// Problems made from the refusals of other modules, and problems that are the same in each request.
extension Problem {
    /// Makes the problem of a request that may be sent again after some seconds.
    init(
        repeatable kind: ProblemKind, _ detail: String, outcome: String = "none", after seconds: Int = 1,
        owner: String? = nil
    ) {
        self.init(kind, detail)
        self.outcome = outcome
        self.owner = owner
        retryAfter = seconds
    }

    /// Makes the problem that a service error is to a client.
    init(_ error: ServiceError, timer: [UInt8]) {
        switch error {
        case .refused(let refusal):
            self.init(refusal, timer: timer)
        case .keyRefused(let refusal):
            self.init(refusal)
        case .calendarRefused(let refusal):
            self.init(refusal)
        case .storageUnavailable:
            self.init(repeatable: .storageUnavailable, "storage takes no writes now; nothing was changed")
        case .overloaded:
            self.init(repeatable: .overloaded, "more changes wait for the disk than may; nothing was changed")
        case .drained:
            self.init(
                repeatable: .drained,
                "the server is drained and takes no changes until it is undrained; nothing was changed", after: 5)
        case .shuttingDown:
            self.init(repeatable: .shuttingDown, "the server is stopping; nothing was changed")
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
        case .missingCalendar(let state, let restartable, let isWatchdog):
            self.init(
                .illegalTransition, "the timer's calendar is deleted: make it again, or PUT the timer with another one")
            self.state = state
            command = "activate"
            allowed = Self.allowed(state, restartable, isWatchdog: isWatchdog).filter { $0 != .activate }
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

    /// Makes the problem that a refusal of a calendar is to a client.
    init(_ refusal: CalendarRefusal) {
        switch refusal {
        case .notFound: self.init(.notFound, "there is no calendar with this name")
        case .exists: self.init(.timerExists, "there is another calendar with this name")
        case .versionMismatch(let current):
            self.init(
                .versionMismatch,
                current.map { "the calendar is at version v\($0)" } ?? "there is no calendar to match a version")
            self.current = current
        case .inUse(let timers):
            self.init(.calendarInUse, "timers go by the calendar, and have not ended")
            self.timers = timers
        case .isChanging:
            self.init(
                repeatable: .overloaded, "the last changes of the calendar are still under way; nothing was changed")
        case .isFull:
            let bytes = CalendarTable.mostBytes >> 20
            self.init(
                .timerLimit, "calendars are \(CalendarTable.most) at most, and \(bytes) MiB together: delete some")
        }
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
        Problem(repeatable: .overloaded, "larger answers than may be are under way; nothing was changed")
    }

    /// The requests that wait for a server hold as many places, or as many bytes, as they may.
    package static var tooManyWaiting: Problem {
        Problem(.overloaded, "too many requests wait for the node that answers; nothing was changed")
    }

    /// The refusal of a request whose connection is beyond the maximum of connections.
    static var tooManyConnections: Problem {
        Problem(
            repeatable: .overloaded,
            "as many connections as may be are open: only health checks are answered; nothing was changed")
    }

    /// The refusal of a request for a delivery that does not exist.
    static var noDelivery: Problem { Problem(.notFound, "there is no delivery with this id") }

    /// Returns the refusal of a test of the webhook of a timer that has none.
    static func noWebhook(timer: [UInt8]) -> Problem {
        var problem = Problem(.illegalTransition, "the timer has no webhook to test")
        problem.timer = timer
        return problem
    }

    /// The refusal of a test for which there is no room besides those under way.
    static var tooManyTests: Problem {
        Problem(
            repeatable: .overloaded,
            "as many tests as may be are under way, or requests to the webhook's host; nothing was sent")
    }

    /// The refusal of a request whose answer rests on records that were lost.
    static var lost: Problem {
        Problem(repeatable: .storageUnavailable, "storage did not take the change; nothing was changed")
    }

    /// The refusal of a request that would hold the stop of the server up.
    static var stopping: Problem { Problem(ServiceError.shuttingDown, timer: []) }

    /// The refusal while it is not known whether another node has taken the timers over.
    static var leaseOver: Problem {
        Problem(
            repeatable: .storageUnavailable, "the storage has not confirmed in time that this server owns the timers")
    }

    /// Makes a refusal with 503 one of a run that may have made changes before, so that it no longer says that
    /// nothing was changed.
    mutating func markPartlyApplied() {
        guard (status ?? kind.status) == 503 else { return }
        detail = "the run was cut short; some of its changes may have been made"
        outcome = "unknown"
    }

    /// Makes a refusal with 503 one of a request that another server may have carried out before.
    mutating func markSentBefore() {
        guard (status ?? kind.status) == 503, outcome != "unknown" else { return }
        detail = "whether the change was made is not known: a server was sent the request before, and did not answer"
        outcome = "unknown"
    }

    /// The problem of a request whose outcome is not known, since storage took too long.
    static var unknownOutcome: Problem {
        Problem(
            repeatable: .storageUnavailable, "storage has not answered; whether the change was made is not known",
            outcome: "unknown")
    }

    /// Makes the problem that the server's own refusal is to a client.
    init(_ refusal: Refusal) {
        switch refusal {
        case .badRequest(let detail): self.init(.invalidRequest, detail)
        case .targetTooLong: self.init(.tooLarge, "the URL is longer than 4 KiB")
        case .headersTooLarge: self.init(.tooLarge, "the headers are larger than 8 KiB")
        case .late: self.init(.misdirected, "the request was held up on its way; nothing was changed")
        case .overloaded:
            self.init(repeatable: .overloaded, "larger bodies than may be are under way; nothing was changed")
        case .bodyTooLarge(let limit): self.init(.tooLarge, "the body is larger than \(limit) bytes")
        case .notImplemented(let detail): self.init(.notImplemented, detail)
        case .expectationFailed: self.init(.invalidRequest, "the only expectation served is 100-continue")
        case .internalError: self.init(.internalError, "the server failed to answer; this is a fault of its own")
        }
        status = refusal.status
    }
}

/// The refusals that name what a browser or a proxy has sent.
extension Problem {
    /// Returns the refusal of a request whose page has another origin than the host that the request is for.
    ///
    /// - Parameter authority: the host that the request is for; nil if it names none.
    static func crossOrigin(_ origin: ArraySlice<UInt8>, authority: ArraySlice<UInt8>?) -> Problem {
        let host = authority.map { "`Host` is `\(shown($0))`" } ?? "there is no `Host`"
        return Problem(
            .crossOrigin,
            "`Origin` is `\(shown(origin))`, and \(host): they must be the same; a proxy must pass `Host` on as it came"
        )
    }

    /// Returns the refusal of a request in which a header that a browser sends once is given more than once, so that
    /// the request's page is not certain.
    ///
    /// - Parameter name: the name of the header.
    static func crossOrigin(givenTwice name: StaticString) -> Problem {
        Problem(
            .crossOrigin, "`\(name)` is given twice, and a browser sends it once: the request's page is not certain")
    }

    /// Returns the refusal of a request that comes from another site's page, by what the browser says of it.
    static func crossSite(_ site: ArraySlice<UInt8>) -> Problem {
        Problem(.crossOrigin, "the request comes from another site's page: `Sec-Fetch-Site` is `\(shown(site))`")
    }

    /// Returns the refusal of a request whose `Host` has a name that it may not have.
    static func misdirected(_ authority: ArraySlice<UInt8>) -> Problem {
        // The detail proposes only a name that the flag takes.
        let name = Gate.host(of: authority).map { String(decoding: $0, as: UTF8.self).lowercased() }
        let proposed = name.flatMap { HostRule($0) == .name($0) && $0.utf8.count <= longestName ? $0 : nil } ?? "NAME"
        return Problem(
            .misdirected,
            "`Host` is `\(shown(authority))`: neither an address, nor a name without a dot, nor an allowed one; "
                + "`--allow-host \(proposed)` allows it")
    }

    /// Returns a header's value, escaped and bounded, for a detail or a line of the log.
    static func shown(_ value: ArraySlice<UInt8>) -> String {
        let text = Target.visible(value.prefix(longestEcho))
        return text.utf8.count > longestEcho || value.count > longestEcho ? text.prefix(longestEcho) + "…" : text
    }

    /// The most characters of a header that are shown: two of them fit a detail with the words around them.
    private static let longestEcho = 128
    /// The most characters of a name that DNS takes.
    private static let longestName = 253
}
