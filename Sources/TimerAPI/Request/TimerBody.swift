import Primitives
package import TimerCore
import Webhooks
package import WireJSON

/// Reads the body of a create: the fields of a timer, each checked.
package struct TimerBody {
    /// The id that the body asks for.
    private(set) var id: [UInt8]?
    /// The schedule and the policies of the timer.
    private(set) var rules = TimerRules(.after(0))
    /// The label pairs, encoded.
    private var labels: [UInt8] = []
    private var webhook: WebhookFields?
    /// Whether the body says `from`.
    private var hasFrom = false
    /// The payload's JSON, without white space outside of strings; empty for none.
    private var payload: ArraySlice<UInt8> = []

    /// Reads the object at the root of `document`.
    ///
    /// - Parameters:
    ///   - zones: the source of its time zone, so that a file is read here and not under the engine's lock.
    ///   - patch: the patch, if the document is a timer merged with one: a field that it does not name and that the
    ///     timer's new kind does not use is dropped instead of being refused.
    ///   - isStored: whether a server accepted the fields before, by rules that may have been looser.
    package init(
        _ document: JSONDocument, zones: any ZoneSource, patch: JSONDocument? = nil, isStored: Bool = false
    ) throws(Problem) {
        guard document.kind(document.root) == .object else {
            throw Problem(.invalidRequest, "the body must be a JSON object", pointer: "")
        }
        var schedule = ScheduleFields()
        var member = document.firstChild(document.root)
        while let field = member {
            try read(document, field, &schedule)
            member = document.next(field)
        }
        hasFrom = schedule.from != nil
        try schedule.decide(&rules, zones: zones, isStored: isStored) { name in
            patch.map { $0.member($0.root, name) == nil } ?? false
        }
        guard rules.stop == nil || rules.start == .subscriber else {
            throw Problem(.invalidRequest, "`stop` is for `start: subscriber`", pointer: "/stop")
        }
    }

    private mutating func read(
        _ document: JSONDocument, _ field: JSONNode, _ schedule: inout ScheduleFields
    ) throws(Problem) {
        let value = FieldReader(document, field)
        switch Self.fields.first(where: { document.key(field, equals: $0.name) })?.field {
        case .id: id = try value.timerID()
        case .after: schedule.after = try value.duration(isInDays: &schedule.inDays.after)
        case .at: schedule.at = try value.instant()
        case .every: schedule.every = try value.duration(atLeast: 1, isInDays: &schedule.inDays.every)
        case .cron: schedule.cron = try value.text()
        case .rrule: schedule.rrule = try value.text()
        case .rdates: schedule.rdates = try value.instants(atMost: RecurrenceSchedule.dateLimit)
        case .exdates: schedule.exdates = try value.instants(atMost: RecurrenceSchedule.dateLimit)
        case .watchdog: schedule.watchdog = try value.duration(atLeast: 1)
        case .timeZone: schedule.timeZone = try value.text()
        case .from: schedule.from = try value.instant()
        case .calendar: schedule.calendar = try value.calendarName()
        case .onClosed: schedule.onClosed = try value.choice(ClosedPolicy.allCases.map { ($0.name, $0) })
        case .clock: schedule.clock = try value.choice(TimerClock.allCases.map { ($0.name, $0) })
        case .mode: schedule.mode = try value.choice(RepeatMode.allCases.map { ($0.name, $0) })
        case .onResume: schedule.onResume = try value.choice(ResumePolicy.allCases.map { ($0.name, $0) })
        case .misfire: schedule.misfire = try value.choice(MisfirePolicy.allCases.map { ($0.name, $0) })
        case .misfireGrace: schedule.misfireGrace = try value.duration()
        case .misses: schedule.misses = try value.count()
        case .repeatAlarm: schedule.repeatAlarm = try value.flag()
        case .start: rules.start = try value.choice(StartPolicy.allCases.map { ($0.name, $0) }) ?? .now
        case .stop: rules.stop = try value.choice(StopPolicy.allCases.map { ($0.name, $0) })
        case .leeway: rules.leeway = try value.duration() ?? 0
        case .jitter: rules.jitter = try value.duration() ?? 0
        case .maxFires: rules.maxFires = try value.count()
        case .until: rules.until = try value.instant()
        case .restartable: rules.restartable = try value.flag() ?? false
        case .retain: rules.retain = try value.duration() ?? TimerRules.defaultRetain
        case .labels: labels = try value.labels()
        case .payload: payload = try value.payload()
        case .webhook:
            webhook = try WebhookFields(document, field)
            rules.deliveries = webhook?.types ?? []
        case nil: try Self.requireReadOnly(document, field)
        }
    }

    private static func requireReadOnly(_ document: JSONDocument, _ field: JSONNode) throws(Problem) {
        guard TimerFields.readOnly.contains(String(decoding: document.keyBytes(field), as: UTF8.self)) else {
            throw Problem(noField: field, of: "a timer", document, among: fields.map { "\($0.name)" })
        }
    }

    /// Refuses a patch that names a field no timer has, even to remove it.
    static func requireKnownFields(_ patch: JSONDocument) throws(Problem) {
        for field in patch.children(of: patch.root) {
            if !fields.contains(where: { patch.key(field, equals: $0.name) }) { try requireReadOnly(patch, field) }
            if patch.key(field, equals: "webhook") { try WebhookFields.requireKnownFields(patch, field) }
        }
    }

    /// The fields of a create.
    private enum Field {
        case id, after, at, every, cron, rrule, rdates, exdates, watchdog, timeZone, from, calendar, onClosed, clock,
            mode,
            onResume, misfire, misfireGrace, misses, repeatAlarm, start, stop, leeway, jitter, maxFires, until,
            restartable, retain,
            labels,
            payload, webhook
    }

    // The most common fields come first, since a field is looked up by a search from the start.
    private static let fields: [(name: StaticString, field: Field)] = [
        ("id", .id),
        ("after", .after),
        ("at", .at),
        ("every", .every),
        ("cron", .cron),
        ("watchdog", .watchdog),
        ("labels", .labels),
        ("payload", .payload),
        ("start", .start),
        ("stop", .stop),
        ("clock", .clock),
        ("calendar", .calendar),
        ("onClosed", .onClosed),
        ("mode", .mode),
        ("onResume", .onResume),
        ("maxFires", .maxFires),
        ("until", .until),
        ("restartable", .restartable),
        ("retain", .retain),
        ("timeZone", .timeZone),
        ("from", .from),
        ("leeway", .leeway),
        ("jitter", .jitter),
        ("misfire", .misfire),
        ("misfireGrace", .misfireGrace),
        ("misses", .misses),
        ("repeatAlarm", .repeatAlarm),
        ("rrule", .rrule),
        ("rdates", .rdates),
        ("exdates", .exdates),
        ("webhook", .webhook),
    ]

    /// Leaves masked secrets and masked headers out. Returns whether there were any.
    mutating func dropMaskedSecrets() -> Bool { webhook?.dropMasks() ?? false }

    /// Takes instants of the schedule as spent, as they are on the server that the timer comes from.
    mutating func spend(_ spent: SpentInstants) { rules.calendar?.spent = spent }

    /// Whether secrets of the timer's present webhook are to be kept, so that the old definition is needed to make
    /// the new one.
    var keepsSecrets: Bool { webhook?.needsStored ?? false }

    /// Returns the definition of the timer named `id`.
    ///
    /// - Parameter old: the timer's present definition, encoded; empty for a new timer.
    package func definition(id: [UInt8], replacing old: [UInt8] = []) throws(Problem) -> [UInt8] {
        let stored = Definition.layout(old.span).flatMap { WebhookJSON.configuration(old.span, $0) }
        let webhook = try webhook?.configuration(keeping: stored).encode() ?? []
        return Definition.encode(
            id: id.span, labels: labels.span, rules: rules, webhook: webhook.span, payload: payload.span)
    }

    /// Returns the definition of the timer named `id` where the body declares it: `present` itself, but for the
    /// instant of its creation, unless something differs. Parts in another order are those of `present`, and so is an
    /// absent `from`.
    ///
    /// - Parameter present: the timer's definition, encoded; empty for a new timer.
    package func definition(id: [UInt8], over present: [UInt8]) throws(Problem) -> [UInt8] {
        guard let layout = Definition.layout(present.span) else { return try definition(id: id) }
        var rules = rules
        if !hasFrom { rules.schedule = rules.schedule.keepingFrom(of: layout.rules.schedule) }
        let stored = WebhookJSON.configuration(present.span, layout)
        let webhook = try webhook?.configuration(keeping: stored)
        let isSameWebhook = webhook.flatMap { own in stored.map { own.isSame(as: $0) } } ?? false
        let encoded = isSameWebhook ? Array(present[layout.webhook ?? 0..<0]) : webhook?.encode() ?? []
        let isSameLabels = Self.labelSet(labels.span) == Self.labelSet(present.span.extracting(layout.labels))
        return Definition.encode(
            id: id.span, labels: isSameLabels ? present.span.extracting(layout.labels) : labels.span, rules: rules,
            webhook: encoded.span, payload: payload.span)
    }

    private static func labelSet(_ labels: Span<UInt8>) -> Set<[UInt8]> {
        var set: Set<[UInt8]> = []
        var offset = 0
        var start = 0
        while Definition.nextLabel(labels, &offset, end: labels.count) != nil {
            var label: [UInt8] = []
            label.append(copying: labels.extracting(start..<offset))
            set.insert(label)
            start = offset
        }
        return set
    }
}

/// The names of a timer's fields.
public enum TimerFields {
    /// The read-only fields that a timer shows. They are ignored in a body, so that the answer of a
    /// GET can be PUT back.
    public static let readOnly: Set<String> = [
        "state", "kind", "createdAt", "updatedAt", "version", "nextFireAt", "remaining", "lastFiredAt", "fireCount",
        "missedCount", "allowed", "health", "lastKickedAt", "kickCount",
    ]
}
