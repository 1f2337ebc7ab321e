import TimerCore
import WireJSON

/// A timer of an export: its definition and its progress.
struct ImportedTimer {
    let id: [UInt8]
    /// The encoded definition, without the instant at which the timer was made.
    let definition: [UInt8]
    let arrival: TimerArrival
    /// Whether a line about the timer came before.
    let isAgain: Bool

    /// The greatest version, and the greatest count, that a line may have.
    static let mostVersions: Int64 = 1 << 53
    /// The milliseconds that a due instant may lie ahead of now, or back.
    private static let farthest: Int64 = 2 * TimerRules.longestDuration

    init(
        _ document: JSONDocument, _ line: MemberReader, dropsSecrets: Bool, zones: any ZoneSource
    ) throws(Problem) {
        try line.allow(["timer", "state", "held", "again"])
        var body = try Self.body(document, line, zones: zones)
        let isStopped = dropsSecrets ? body.dropMaskedSecrets() : false
        guard let id = body.id else { throw line.invalid("timer", "the timer has no `id`") }
        self.id = id
        let state = try line.object("state")
        body.spend(try Self.spent(state, body.rules))
        definition = try Self.below("/timer") { () throws(Problem) in try body.definition(id: id) }
        var arrival = try Self.arrival(state, body.rules)
        if isStopped { arrival.progress.flags.insert(.webhookStopped) }
        if try line.flag("held") ?? false {
            arrival.progress.state = .idle
            arrival.progress.flags.formIntersection(.webhookStopped)
            arrival.due = .none
            arrival.stalledSince = .none
            arrival.kicks?.graceFrom = 0
            arrival.kicks?.sharedGrace = 0
            // The line that follows has the version that the timer is to have.
            arrival.progress.version = max(1, arrival.progress.version - 1)
        }
        self.arrival = arrival
        isAgain = try line.flag("again") ?? false
    }

    /// Reads the definition, which has the form of the body of a create.
    static func body(_ document: JSONDocument, _ line: MemberReader, zones: any ZoneSource) throws(Problem) -> TimerBody
    {
        guard let node = line.value("timer") else { throw line.invalid("timer", "`timer` is needed") }
        var inner = JSONDocument()
        do throws(JSONError) { try inner.parse(document.compact(node)) } catch {
            throw Problem(.invalidRequest, error.message, pointer: "/timer\(error.pointer)")
        }
        return try below("/timer") { () throws(Problem) in try TimerBody(inner, zones: zones, isStored: true) }
    }

    /// Runs `body` and makes its problems point into the value at `pointer`.
    static func below<Value>(_ pointer: String, _ body: () throws(Problem) -> Value) throws(Problem) -> Value {
        do throws(Problem) { return try body() } catch {
            var problem = error
            problem.pointer = problem.pointer.map { pointer + $0 }
            throw problem
        }
    }

    private static func arrival(_ state: MemberReader, _ rules: TimerRules) throws(Problem) -> TimerArrival {
        try state.allow([
            "state", "version", "createdAt", "updatedAt", "dueAt", "dueInMs", "leftUs", "lastFiredAt", "fireCount",
            "missedCount", "firesSinceActivation", "stalled", "unplanned", "moved", "webhookStopped", "unsubscribed",
            "kickCount", "lastKickedAt", "silentSince", "stalledSince", "stalledForMs",
            "awaiting", "graceFrom", "sharedGrace", "ownGrid", "readInGap", "unspent",
        ])
        var progress = TimerProgress()
        guard let name = try state.choice("state", TimerState.allCases.map { ($0.name, $0) }) else {
            throw state.invalid("state", "`state` is needed")
        }
        progress.state = name
        progress.version = try state.required("version", in: 1...mostVersions)
        progress.updatedAt = try state.requiredInstant("updatedAt")
        progress.lastFiredAt = try state.instant("lastFiredAt") ?? 0
        progress.fireCount = try state.integer("fireCount", in: 0...mostVersions) ?? 0
        progress.missedCount = try state.integer("missedCount", in: 0...mostVersions) ?? 0
        progress.firesSinceActivation =
            try state.integer("firesSinceActivation", in: 0...progress.fireCount) ?? 0
        let isWatchdog = rules.schedule.kind == .watchdog
        for (name, flag) in ImportLine.flags where try state.flag(name) ?? false {
            let isLegal =
                switch flag {
                case .stalled: isWatchdog
                case .unplanned: isWatchdog && progress.state == .running
                case .unsubscribed: progress.state == .suspended
                case .awaiting: rules.grace != nil && progress.isPlanned
                case .ownGrid, .readInGap: rules.schedule.keepsLocalTime
                default: true
                }
            guard isLegal else { throw state.invalid(name, "a timer like this can't be `\(name)`") }
            progress.flags.insert(flag)
        }
        let createdAt = try state.requiredInstant("createdAt")
        guard (0..<(1 << 48)).contains(createdAt) else { throw state.invalid("createdAt", "no timer was made then") }
        var arrival = TimerArrival(
            progress, due: try due(state, TimerArrival.form(progress, rules)), kicks: nil, createdAt: createdAt)
        guard isWatchdog else { return arrival }
        var kicks = KickProgress()
        kicks.kickCount = try state.integer("kickCount", in: 0...mostVersions) ?? 0
        kicks.silentSince = try state.instant(kicks.kickCount > 0 ? "lastKickedAt" : "silentSince") ?? 0
        if rules.grace != nil, progress.state == .running, !progress.flags.contains(.awaiting) {
            kicks.graceFrom = try state.instant("graceFrom") ?? 0
            kicks.sharedGrace = try state.integer("sharedGrace", in: 0...mostVersions) ?? 0
        }
        arrival.kicks = kicks
        if rules.clock == .suspending {
            let stalledFor = try state.integer("stalledForMs", in: -farthest...farthest)
            arrival.stalledSince = stalledFor.map { .ahead(-$0) } ?? .none
        } else {
            arrival.stalledSince = try state.instant("stalledSince").map { .at($0) } ?? .none
        }
        return arrival
    }

    private static func spent(_ state: MemberReader, _ rules: TimerRules) throws(Problem) -> SpentInstants {
        guard let bounds = try state.instants("unspent", atMost: SpentInstants.limit) else { return SpentInstants() }
        guard rules.calendar?.onClosed.keepsLocalTime == true, let spent = SpentInstants(bounds: bounds) else {
            throw state.invalid("unspent", "a timer like this can't have these instants")
        }
        return spent
    }

    private static func due(_ state: MemberReader, _ form: TimerArrival.Form) throws(Problem) -> TimerArrival.Due {
        switch form {
        case .none: .none
        case .at: .at(try state.requiredInstant("dueAt"))
        case .ahead: .ahead(try state.required("dueInMs", in: -farthest...farthest))
        case .left: .left(try state.required("leftUs", in: 0...farthest * 1000))
        }
    }
}
