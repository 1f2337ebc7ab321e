import TimerCore
import WireJSON

/// Reads the body of a create: the fields of a timer, each checked.
struct TimerBody {
    /// The id the body asks for.
    var id: [UInt8]?
    /// How the timer behaves.
    var rules = TimerRules(.after(0))
    /// The label pairs, encoded.
    var labels: [UInt8] = []
    /// The payload's JSON, white space outside of strings dropped; empty for none.
    var payload: [UInt8] = []

    private var after: Int64?
    private var at: Int64?
    private var every: Int64?
    private var clock: TimerClock?
    private var mode: RepeatMode?

    /// Reads the object at the root of `document`.
    init(_ document: JSONDocument) throws(Problem) {
        try self.init(document, document.root)
    }

    /// Reads the object at `node`.
    init(_ document: JSONDocument, _ node: JSONNode) throws(Problem) {
        guard document.kind(node) == .object else {
            throw Problem(.invalidRequest, "the body must be a JSON object", pointer: document.pointer(to: node))
        }
        var member = document.firstChild(node)
        while let field = member {
            try read(document, field)
            member = document.next(field)
        }
        try finish()
    }

    private mutating func read(_ document: JSONDocument, _ field: JSONNode) throws(Problem) {
        let value = FieldReader(document, field)
        switch Self.fields.first(where: { document.key(field, equals: $0.name) })?.field {
        case .id: id = try value.timerID()
        case .after: after = try value.duration()
        case .at: at = try value.instant()
        case .every: every = try value.duration(atLeast: 1)
        case .start:
            rules.start = try value.choice(StartPolicy.allCases.map { ($0.name, $0) }, later: ["subscriber"]) ?? .now
        case .clock: clock = try value.choice(TimerClock.allCases.map { ($0.name, $0) }, later: ["suspending"])
        case .mode: mode = try value.choice(RepeatMode.allCases.map { ($0.name, $0) })
        case .onResume: rules.onResume = try value.choice(ResumePolicy.allCases.map { ($0.name, $0) }) ?? .remaining
        case .maxFires: rules.maxFires = try value.count()
        case .until: rules.until = try value.instant()
        case .restartable: rules.restartable = try value.flag() ?? false
        case .retain: rules.retain = try value.duration() ?? TimerRules.defaultRetain
        case .labels: labels = try value.labels()
        case .payload: payload = try value.payload()
        case .leeway, .jitter:
            if let duration = try value.duration(), duration != 0 { throw value.notImplemented() }
        case .misfire: _ = try value.choice([("once", true)], later: ["all", "skip"])
        case .timeZone: _ = try value.choice([("UTC", true)], later: nil)
        case .misses:
            guard value.isDefault({ document.integer($0) == 1 }) else { throw value.notImplemented() }
        case .repeatAlarm:
            guard value.isDefault({ document.kind($0) == .false }) else { throw value.notImplemented() }
        case .cron, .from, .watchdog, .misfireGrace, .webhook:
            if document.kind(field) != .null { throw value.notImplemented() }
        case nil:
            let name = String(decoding: document.keyBytes(field), as: UTF8.self)
            guard Self.readOnly.contains(name) else {
                throw Problem(.unknownField, "a timer has no field `\(name)`", pointer: document.pointer(to: field))
            }
        }
    }

    /// The fields of a create.
    private enum Field {
        case id, after, at, every, start, clock, mode, onResume, maxFires, until, restartable, retain, labels, payload,
            leeway, jitter, misfire, timeZone, misses, repeatAlarm, cron, from, watchdog, misfireGrace, webhook
    }

    private static let fields: [(name: StaticString, field: Field)] = [
        ("id", .id),
        ("after", .after),
        ("at", .at),
        ("every", .every),
        ("start", .start),
        ("clock", .clock),
        ("mode", .mode),
        ("onResume", .onResume),
        ("maxFires", .maxFires),
        ("until", .until),
        ("restartable", .restartable),
        ("retain", .retain),
        ("labels", .labels),
        ("payload", .payload),
        ("leeway", .leeway),
        ("jitter", .jitter),
        ("misfire", .misfire),
        ("timeZone", .timeZone),
        ("misses", .misses),
        ("repeatAlarm", .repeatAlarm),
        ("cron", .cron),
        ("from", .from),
        ("watchdog", .watchdog),
        ("misfireGrace", .misfireGrace),
        ("webhook", .webhook),
    ]

    /// What a timer shows beside what creates it: ignored in a body, so that what GET gave can be PUT back.
    private static let readOnly: Set<String> = [
        "state", "kind", "createdAt", "updatedAt", "version", "nextFireAt", "remaining", "lastFiredAt", "fireCount",
        "missedCount", "allowed", "health", "lastKickedAt", "kickCount",
    ]

    private mutating func finish() throws(Problem) {
        let schedule: Schedule
        switch (after, at, every) {
        case (nil, nil, nil):
            throw Problem(.invalidSchedule, "one of `after`, `at`, `every` is needed")
        case (let delay?, nil, nil): schedule = .after(delay)
        case (nil, let instant?, nil): schedule = .at(instant)
        case (nil, nil, let period?): schedule = .every(period, first: .period)
        case (let delay?, nil, let period?): schedule = .every(period, first: .after(delay))
        case (nil, let instant?, let period?): schedule = .every(period, first: .at(instant))
        default:
            throw Problem(.invalidSchedule, "`after` and `at` exclude each other", pointer: "/at")
        }
        rules.schedule = schedule
        if let clock, schedule.isCalendar, clock != .wall {
            throw Problem(.invalidSchedule, "a schedule with `at` runs on the wall clock", pointer: "/clock")
        }
        rules.clock = clock ?? schedule.defaultClock
        if let mode, mode != .fixedRate, schedule.kind != .repeating {
            throw Problem(.invalidSchedule, "`mode` is for `every`", pointer: "/mode")
        }
        rules.mode = mode ?? .fixedRate
    }

    /// The definition of the timer named `id`.
    func definition(id: [UInt8]) -> [UInt8] {
        Definition.encode(id: id.span, labels: labels.span, rules: rules, payload: payload.span)
    }
}

/// Reads one field's value; errors carry its JSON pointer.
struct FieldReader {
    private let document: JSONDocument
    private let node: JSONNode

    init(_ document: JSONDocument, _ node: JSONNode) {
        self.document = document
        self.node = node
    }

    private var isNull: Bool { document.kind(node) == .null }

    private func invalid(_ detail: String, _ kind: ProblemKind = .invalidRequest) -> Problem {
        Problem(kind, detail, pointer: document.pointer(to: node))
    }

    func notImplemented() -> Problem { invalid("this is not there yet", .notImplemented) }

    private func text() throws(Problem) -> [UInt8]? {
        if isNull { return nil }
        guard document.kind(node) == .string else { throw invalid("this must be a string") }
        return document.string(node)
    }

    /// A duration in milliseconds.
    func duration(atLeast minimum: Int64 = 0) throws(Problem) -> Int64? {
        guard let text = try text() else { return nil }
        do throws(TextError) {
            let value = try DurationText.parse(text)
            guard value >= minimum else { throw TextError(message: "the least here is \(minimum)ms") }
            return value
        } catch {
            throw invalid(error.message, .invalidSchedule)
        }
    }

    /// An instant in wall milliseconds.
    func instant() throws(Problem) -> Int64? {
        guard let text = try text() else { return nil }
        do throws(TextError) { return try RFC3339.parse(text) } catch { throw invalid(error.message, .invalidSchedule) }
    }

    /// A whole number of at least one.
    func count() throws(Problem) -> Int64? {
        if isNull { return nil }
        guard document.kind(node) == .number, let value = document.integer(node), value >= 1 else {
            throw invalid("this must be a whole number of at least 1")
        }
        return value
    }

    func flag() throws(Problem) -> Bool? {
        switch document.kind(node) {
        case .null: return nil
        case .true: return true
        case .false: return false
        default: throw invalid("this must be true or false")
        }
    }

    /// One of some words; words in `later` are known but not there yet (nil: any other word is).
    func choice<Value>(
        _ choices: [(StaticString, Value)], later: [String]? = []
    ) throws(Problem) -> Value? {
        guard let text = try text() else { return nil }
        let word = String(decoding: text, as: UTF8.self)
        for (name, value) in choices where "\(name)" == word { return value }
        if later.map({ $0.contains(word) }) ?? true { throw notImplemented() }
        let names = (choices.map { "\($0.0)" } + (later ?? [])).map { "`\($0)`" }.joined(separator: ", ")
        throw invalid("this must be one of \(names)")
    }

    /// Whether a field that is not there yet has its default.
    func isDefault(_ isDefaultValue: (JSONNode) -> Bool) -> Bool { isNull || isDefaultValue(node) }

    func timerID() throws(Problem) -> [UInt8]? {
        guard let text = try text() else { return nil }
        guard TimerID.isValid(text.span) else {
            throw invalid("an id is 1 to 128 of A-Z a-z 0-9 . _ ~ - and none of `.` `..` `batch` `bulk`")
        }
        return text
    }

    func labels() throws(Problem) -> [UInt8] {
        if isNull { return [] }
        guard document.kind(node) == .object else { throw invalid("labels are an object of strings") }
        var encoded: [UInt8] = []
        var count = 0
        var member = document.firstChild(node)
        while let label = member {
            count += 1
            let key = document.keyBytes(label)
            let reader = FieldReader(document, label)
            guard Self.isLabelKey(key) else {
                throw reader.invalid("a label's key is 1 to 63 of A-Z a-z 0-9 . _ / -")
            }
            guard document.kind(label) == .string else { throw reader.invalid("a label's value must be a string") }
            let value = document.string(label)
            guard value.count <= APILimits.labelValueBytes else {
                throw reader.invalid("a label's value has at most \(APILimits.labelValueBytes) bytes")
            }
            Definition.appendLabel(key: key.span, value: value.span, to: &encoded)
            member = document.next(label)
        }
        guard count <= APILimits.labels else { throw invalid("a timer has at most \(APILimits.labels) labels") }
        return encoded
    }

    static func isLabelKey(_ key: [UInt8]) -> Bool {
        guard !key.isEmpty && key.count <= APILimits.labelKeyBytes else { return false }
        return key.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    func payload() throws(Problem) -> [UInt8] {
        if isNull { return [] }
        var bytes: [UInt8] = []
        document.appendCompact(node, to: &bytes)
        guard bytes.count <= APILimits.payloadBytes else {
            throw invalid("a payload has at most 64 KiB", .tooLarge)
        }
        return bytes
    }
}
