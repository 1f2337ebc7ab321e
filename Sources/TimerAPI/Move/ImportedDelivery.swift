import TimerCore
import TimerService
import WireJSON

/// A delivery of an export, with its event.
struct ImportedDelivery {
    let timer: [UInt8]
    /// The state of the delivery; its slot means nothing.
    let detail: DeliveryDetail
    /// The effect that the event's record holds.
    let event: Effect
    /// The client of the other server whose request made the event; nil for none.
    let actor: Actor?
    /// The definition of the timer at the event, encoded; that of a deleted timer has its webhook.
    let definition: [UInt8]
    /// The position that the event's id names.
    let origin: Int64
    /// Whether the webhook of a deleted timer takes deliveries; nil if the timer is not deleted.
    let takesDeliveries: Bool?

    init(
        _ document: JSONDocument, _ line: MemberReader, dropsSecrets: Bool, zones: any ZoneSource
    ) throws(Problem) {
        try line.allow(["delivery", "event", "deleted"])
        let delivery = try line.object("delivery")
        detail = try Self.detail(delivery)
        let event = try line.object("event")
        (self.event, origin) = try Self.event(event)
        actor = try Self.actor(event)
        guard let node = event.value("timer"), let id = try FieldReader(document, node).timerID() else {
            throw event.invalid("timer", "`timer` is needed")
        }
        timer = id
        var labels: [UInt8] = []
        if let node = event.value("labels") { labels = try FieldReader(document, node).labels() }
        var payload: [UInt8] = []
        if let node = event.value("payload") { payload = Array(try FieldReader(document, node).payload()) }
        var rules = TimerRules(.after(0))
        var webhook: [UInt8] = []
        var takes: Bool?
        if line.value("deleted") != nil {
            let deleted = try line.object("deleted")
            try deleted.allow(["timer", "takesDeliveries"])
            var body = try ImportedTimer.body(document, deleted, zones: zones)
            let isStopped = dropsSecrets ? body.dropMaskedSecrets() : false
            takes = try deleted.flag("takesDeliveries") ?? true && !isStopped && !body.rules.deliveries.isEmpty
            rules = body.rules
            let whole = try ImportedTimer.below("/deleted/timer") { () throws(Problem) in
                try body.definition(id: id)
            }
            if let place = Definition.layout(whole.span)?.webhook { webhook = Array(whole[place]) }
        }
        takesDeliveries = takes
        if webhook.isEmpty { rules.deliveries = [] }
        var definition = Definition.encode(
            id: id.span, labels: labels.span, rules: rules, webhook: webhook.span, payload: payload.span)
        let createdAt = try delivery.requiredInstant("createdAt")
        guard (0..<(1 << 48)).contains(createdAt) else { throw delivery.invalid("createdAt", "no timer was made then") }
        Definition.setCreatedAt(createdAt, in: &definition)
        if let trace = try Self.trace(event) { Definition.setTrace(trace.kept, in: &definition) }
        self.definition = definition
    }

    private static func detail(_ delivery: MemberReader) throws(Problem) -> DeliveryDetail {
        try delivery.allow([
            "state", "attempts", "createdAt", "dueAt", "reason", "lastAttemptAt", "lastStatus", "error", "redrivenAt",
        ])
        let states: [(StaticString, DeliveryState)] = [("pending", .pending), ("waiting", .waiting), ("dead", .dead)]
        guard let state = try delivery.choice("state", states) else {
            throw delivery.invalid("state", "`state` is needed")
        }
        var detail = DeliveryDetail(id: 0, body: 0, slot: nil, state: state)
        detail.attempts = Int(try delivery.integer("attempts", in: 0...127) ?? 0)
        if state != .pending { detail.due = try delivery.requiredInstant("dueAt") }
        if state == .dead {
            let reasons: [EventReason] = [.attempts, .backlog, .status, .age]
            detail.reason = try delivery.choice("reason", reasons.map { ($0.name, $0) }) ?? .attempts
        } else {
            detail.redrivenAt = try delivery.instant("redrivenAt")
        }
        if let at = try delivery.instant("lastAttemptAt") {
            detail.lastAttempt = LastAttempt(
                at: at, status: Int(try delivery.integer("lastStatus", in: 0...999) ?? 0),
                failure: try delivery.choice("error", DeliveryFailure.allCases.map { ($0.name, $0) }))
        }
        return detail
    }

    private static func actor(_ event: MemberReader) throws(Problem) -> Actor? {
        guard let name = try event.text("by") else { return nil }
        guard let actor = Actor(Array(name.utf8)) else { throw event.invalid("by", "this names no client") }
        return actor
    }

    private static func trace(_ event: MemberReader) throws(Problem) -> TraceContext? {
        guard let parent = try event.text("traceparent") else { return nil }
        guard let trace = TraceContext(parent: Array(parent.utf8)[...]) else {
            throw event.invalid("traceparent", "this is no `traceparent`")
        }
        return trace
    }

    private static func event(_ event: MemberReader) throws(Problem) -> (Effect, origin: Int64) {
        try event.allow([
            "id", "type", "timer", "at", "version", "labels", "payload", "scheduledAt", "latenessUs", "fire", "missed",
            "nextFireAt", "stalledFor", "silentFor", "reason", "by", "traceparent",
        ])
        guard let id = try event.text("id").flatMap({ EventID(shown: Array($0.utf8)) }), id.position > 0 else {
            throw event.invalid("id", "this is no event's id")
        }
        let types = EventType.allCases.filter { !$0.isDelivery }.map { ($0.name, $0) }
        guard let type = try event.choice("type", types) else { throw event.invalid("type", "`type` is needed") }
        var progress = TimerProgress()
        progress.version = try event.required("version", in: 1...ImportedTimer.mostVersions)
        let at = try event.requiredInstant("at")
        progress.updatedAt = at
        var effect = Effect(type, at: at, progress: progress)
        let reasons = EventReason.allCases.filter { $0 != .none && $0 != .imported }.map { ($0.name, $0) }
        effect.reason = try event.choice("reason", reasons) ?? .none
        if type == .fired {
            effect.progress.fireCount = try event.required("fire", in: 0...ImportedTimer.mostVersions)
            effect.fire = FireDetail(
                scheduledAt: try event.requiredInstant("scheduledAt"),
                latenessUs: try event.integer("latenessUs", in: 0...(1 << 60)) ?? 0,
                missed: try event.integer("missed", in: 0...ImportedTimer.mostVersions) ?? 0)
        }
        effect.nextFireAt = try event.instant("nextFireAt")
        if type == .recovered {
            effect.stalledFor = try event.duration("stalledFor") ?? 0
            effect.silentFor = try event.duration("silentFor")
        }
        return (effect, id.position)
    }
}
