import HTTPServer
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// Turns complete requests into operations.
struct RequestReader {
    let siphash: SipHash
    /// The source of time zones.
    let zones: any ZoneSource
    /// Whether the server has a secret for webhooks without one of their own.
    let signsByDefault: () -> Bool
    /// Makes an id for a timer whose client gave none.
    let makeID: () -> [UInt8]

    /// Reads the request into the ticket's operation. A wrong request becomes an operation that fails, since a
    /// missing timer and a repeated idempotency key are reported first.
    func read(_ ticket: Ticket) {
        do throws(Problem) {
            ticket.operation = try operation(ticket)
        } catch {
            if let id = namedDelivery(ticket) {
                ticket.operation = .deliveries(.fail(error, unlessMissing: id))
            } else {
                ticket.operation = .fail(error, unlessMissing: namedTimer(ticket))
            }
        }
    }

    /// Reads the idempotency key of a POST that has one. A preview, which changes nothing, keeps none.
    func readIdempotencyKey(_ ticket: Ticket) {
        let mayHaveOne = ticket.exchange.method == .post || ticket.route.isAboutKeys
        guard mayHaveOne, !ticket.exchange.isBodyTooLarge, let lines = ticket.exchange.headers.lines("idempotency-key")
        else { return }
        if ticket.route.isAboutKeys {
            return ticket.fail(
                Problem(.invalidRequest, "requests about keys take no `Idempotency-Key`: a secret is shown once"))
        }
        guard ticket.route.takesKeys || ticket.route == .preview else {
            return ticket.fail(
                Problem(.invalidRequest, "\(ticket.route.path) takes no `Idempotency-Key`: its answer is not kept"))
        }
        guard lines.count == 1 else {
            return ticket.fail(Problem(.invalidRequest, "`Idempotency-Key` is given more than once"))
        }
        let value = lines.first
        guard (1...APILimits.keyBytes).contains(value.bytes.count), value.bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            return ticket.fail(Problem(.invalidRequest, "`Idempotency-Key` is 1 to 128 visible ASCII characters"))
        }
        guard ticket.route.takesKeys else { return }
        // The key alone names the request among those of its principal; method, target and body make its fingerprint.
        // Clients with a token, and those that are asked for none, are one principal: an `Idempotency-Key` has no blank.
        var name = Array(value.bytes)
        let principal = ticket.principal.key?.id
        if let principal { name += Array(" \(principal.text)".utf8) }
        ticket.idempotency = IdempotentRequest(
            key: Hash128(name.span, siphash: siphash, tweak: 2), fingerprint: fingerprint(of: ticket),
            principal: principal)
    }

    private func fingerprint(of ticket: Ticket) -> Hash128 {
        let request = Array("POST ".utf8) + ticket.exchange.target + [0] + ticket.exchange.body
        return Hash128(request.span, siphash: siphash, tweak: 3)
    }

    /// Returns the timer that the path names, if its absence would be a 404; nil otherwise.
    private func namedTimer(_ ticket: Ticket) -> TimerKey? {
        switch ticket.route {
        case .timer where ticket.exchange.method == .put: nil
        case .timer, .timerNext, .timerEvents, .timerWait, .webhookTest, .activate, .suspend, .resume, .cancel, .kick,
            .fire,
            .reschedule:
            TimerID.isValid(ticket.parameter) ? key(ticket.parameter) : nil
        default: nil
        }
    }

    func key(_ id: [UInt8]) -> TimerKey { TimerKey(id: id.span, siphash: siphash) }

    /// Returns the key of the timer that the path names.
    private func pathKey(_ ticket: Ticket) throws(Problem) -> TimerKey {
        guard TimerID.isValid(ticket.parameter) else {
            throw Problem(.notFound, "there is no timer with this id")
        }
        return key(ticket.parameter)
    }

    private func operation(_ ticket: Ticket) throws(Problem) -> Operation {
        if let command = ticket.route.command {
            return try self.command(command, ticket)
        }
        switch ticket.route {
        case .timers:
            return ticket.exchange.method == .post
                ? try create(ticket) : .list(try ListRun(ticket.target))
        case .timer: return try timer(ticket)
        case .batch: return try batch(ticket)
        case .bulk: return try bulk(ticket)
        case .preview: return try preview(ticket)
        case .statsDue: return .due(try DueRun(ticket.target))
        // The page reads its parameters.
        case .statsHistory: return .none
        case .webhookTest:
            let key = try pathKey(ticket)
            try requireNothing(ticket)
            try refuse("if-match", ticket)
            try requireNoParameters(ticket)
            return .testWebhook(key)
        case .promote:
            try requireNothing(ticket)
            try refuse("if-match", ticket)
            var query = QueryReader(ticket.target)
            let url = try query.one("url").map { String(decoding: $0, as: UTF8.self) }
            try query.finish()
            ticket.outcome = .handOver(to: url)
            return .none
        case .deliveries:
            return .deliveries(.list(try DeliveryListRun(ticket.target, siphash: siphash)))
        case .redrive: return try redrive(ticket)
        case .delivery, .deliveryRedrive: return try delivery(ticket)
        case .drain:
            try requireNoParameters(ticket)
            try requireNothing(ticket)
            return .drain(ticket.exchange.method == .post)
        case .importPart:
            try refuse("if-match", ticket)
            try checkMediaType(ticket, orType: "application/x-ndjson")
            var request = try ImportRequest(ticket.target, ticket.exchange.body, siphash: siphash)
            request.grantor = ticket.principal.grantor
            return .importPart(try ImportRun(request, siphash: siphash, zones: zones))
        case .keys, .key, .keyRotate, .keySelf: return .keys(try keyRequest(ticket))
        case .calendars, .calendar, .calendarOpen: return .calendars(try calendarRequest(ticket))
        case .importState:
            try requireNoParameters(ticket)
            return .importState(try ImportState(ticket.parameter))
        case .timerNext:
            let key = try pathKey(ticket)
            return .next(key, try firesQuery(ticket))
        case .events, .timerEvents, .timerWait:
            return .stream(try StreamReader(siphash: siphash).plan(ticket))
        default:
            try requireNoParameters(ticket)
            return .none
        }
    }

    func requireNoParameters(_ ticket: Ticket) throws(Problem) {
        try QueryReader(ticket.target).finish()
    }

    private func firesQuery(_ ticket: Ticket) throws(Problem) -> FiresQuery {
        var query = QueryReader(ticket.target)
        let count = try query.count("count", upTo: APILimits.previewMaximum, default: APILimits.previewDefault)
        let isDescribed = try query.flag("describe", default: false)
        try query.finish()
        return FiresQuery(count: count, isDescribed: isDescribed)
    }

    /// Parses the body, whose media type must be JSON (or `other`).
    func parse(_ ticket: Ticket, orType other: StaticString? = nil) throws(Problem) {
        try checkMediaType(ticket, orType: other)
        if ticket.exchange.isBodyTooLarge { throw tooLarge(ticket) }
        do throws(JSONError) { try ticket.document.parse(ticket.exchange.body) } catch {
            throw Problem(.invalidRequest, error.description, pointer: error.pointer)
        }
    }

    /// The problem of a request whose body is too large.
    func tooLarge(_ ticket: Ticket) -> Problem { Problem(.bodyTooLarge(limit: ticket.route.bodyLimit)) }

    /// Checks that the body's media type is JSON, or `other`. Returns whether it is `other`.
    @discardableResult
    private func checkMediaType(_ ticket: Ticket, orType other: StaticString? = nil) throws(Problem) -> Bool {
        if let coding = ticket.exchange.header("content-encoding"), !coding.equalsIgnoringCase("identity") {
            throw Problem(.unsupportedMediaType, "no content coding is taken")
        }
        guard ticket.exchange.headers.count(of: "content-type") <= 1 else {
            throw Problem(.invalidRequest, "`Content-Type` may come once")
        }
        let value = ticket.exchange.header("content-type")
        // The usual spelling is taken without the cost of the parsing below.
        if value?.equals("application/json") ?? false { return false }
        let text = value?.text ?? ""
        let type = text.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        let isOther = other.map { "\($0)" == type } ?? false
        guard type == "application/json" || isOther else {
            throw Problem(
                .unsupportedMediaType, "send `Content-Type: application/json`\(other.map { " or \($0)" } ?? "")")
        }
        return isOther
    }

    private func create(_ ticket: Ticket) throws(Problem) -> Operation {
        guard !ticket.exchange.body.isEmpty else {
            throw Problem(.invalidRequest, "a timer needs a JSON body, such as {\"after\": \"10s\"}")
        }
        try parse(ticket)
        try ticket.principal.checkMaking(ticket.document)
        try requireNoParameters(ticket)
        try refuse("if-match", ticket)
        let body = try TimerBody(ticket.document, zones: zones)
        let id = body.id ?? makeID()
        ticket.parameter = id
        let definition = try webhookRule(ticket).checked(body.definition(id: id))
        ticket.definition = definition
        return .create(TimerKey(definition: definition.span, siphash: siphash))
    }

    /// The rule of the webhooks that the request's client may set.
    private func webhookRule(_ ticket: Ticket) -> WebhookRule {
        WebhookRule(ticket.principal, signsByDefault: signsByDefault)
    }

    func refuse(_ header: StaticString, _ ticket: Ticket) throws(Problem) {
        if ticket.exchange.header(header) != nil {
            throw Problem(.invalidRequest, "`\(header)` has no meaning here")
        }
    }

    func condition(_ ticket: Ticket) -> VersionCondition {
        ticket.exchange.list("if-match").map { Conditions.ifMatch($0) } ?? .none
    }

    private func timer(_ ticket: Ticket) throws(Problem) -> Operation {
        switch ticket.exchange.method {
        case .put: return try put(ticket)
        case .patch:
            let key = try pathKey(ticket)
            guard ticket.exchange.hasBody else { throw Problem(.invalidRequest, "a patch needs a JSON body") }
            try parse(ticket, orType: "application/merge-patch+json")
            try requireNoParameters(ticket)
            return .readForPatch(key, condition(ticket))
        case .delete:
            let key = try pathKey(ticket)
            try requireNoParameters(ticket)
            try requireNothing(ticket)
            return .delete(key, condition(ticket))
        default:
            let key = try pathKey(ticket)
            try requireNoParameters(ticket)
            return .get(key)
        }
    }

    private func put(_ ticket: Ticket) throws(Problem) -> Operation {
        guard TimerID.isValid(ticket.parameter) else {
            throw Problem(
                .invalidRequest, "an id is 1 to 128 of A-Z a-z 0-9 . _ ~ - and none of `.` `..` `batch` `bulk`")
        }
        guard !ticket.exchange.body.isEmpty else { throw Problem(.invalidRequest, "a timer needs a JSON body") }
        try parse(ticket)
        var query = QueryReader(ticket.target)
        let applies = try query.flag("apply", default: false)
        let isDry = try query.flag("dryRun")
        try query.finish()
        if isDry == true && !applies { throw QueryReader.invalid("dryRun", "`dryRun` goes with `apply=true`") }
        let body = try TimerBody(ticket.document, zones: zones)
        guard body.id == nil || body.id == ticket.parameter else {
            throw Problem(.invalidRequest, "the body's id is not the path's", pointer: "/id")
        }
        let unless = ticket.exchange.list("if-none-match").map { Conditions.ifNoneMatch($0) } ?? .none
        let key = key(ticket.parameter)
        if applies {
            let declaration = try Declaration(
                body, id: ticket.parameter, key: key, if: condition(ticket), unless: unless, webhookRule(ticket))
            return .declare(declaration, isDry: isDry ?? false)
        }
        if body.keepsSecrets { return .readForPut(key, condition(ticket), unless: unless) }
        ticket.definition = try webhookRule(ticket).checked(body.definition(id: ticket.parameter))
        return .put(key, condition(ticket), unless: unless)
    }

    /// Checks that the request has no body, or `{}`.
    func requireNothing(_ ticket: Ticket) throws(Problem) {
        guard ticket.exchange.hasBody else { return }
        try parse(ticket)
        try CommandBody.requireEmpty(ticket.document)
    }

    private func command(_ command: TimerCommand, _ ticket: Ticket) throws(Problem) -> Operation {
        let key = try pathKey(ticket)
        var target: RescheduleTarget?
        if command == .reschedule {
            guard ticket.exchange.hasBody else {
                throw Problem(.invalidRequest, "a reschedule takes {\"after\": D} or {\"at\": T}")
            }
            try parse(ticket)
            target = try CommandBody.target(ticket.document, ticket.document.root)
        } else {
            try requireNothing(ticket)
        }
        try requireNoParameters(ticket)
        return .command(command, key, target, condition(ticket))
    }

    private func batch(_ ticket: Ticket) throws(Problem) -> Operation {
        try refuse("if-match", ticket)
        var isBrief = false
        var query = QueryReader(ticket.target)
        isBrief = try query.word("results", [("brief", true), ("full", false)]) ?? false
        try query.finish()
        guard !ticket.exchange.body.isEmpty else { throw Problem(.invalidRequest, "a batch needs at least one line") }
        let isJSON = try !checkMediaType(ticket, orType: "application/x-ndjson")
        let body = ticket.exchange.body
        return .batch(
            try BatchRun(
                body, BatchForm(of: body, isJSON: isJSON), isBrief: isBrief, keepsParts: ticket.idempotency != nil,
                by: ticket.principal, webhookRule(ticket), siphash: siphash, zones: zones))
    }

    private func bulk(_ ticket: Ticket) throws(Problem) -> Operation {
        try refuse("if-match", ticket)
        var query = QueryReader(ticket.target)
        let isDry = try query.flag("dryRun", default: false)
        try query.finish()
        guard !ticket.exchange.body.isEmpty else {
            throw Problem(.invalidRequest, "a bulk request needs a selector, such as {\"labels\": {\"k\": \"v\"}}")
        }
        try parse(ticket)
        return .bulk(try BulkRun(ticket.parameter, isDry: isDry, ticket.document))
    }

    private func preview(_ ticket: Ticket) throws(Problem) -> Operation {
        guard !ticket.exchange.body.isEmpty else {
            throw Problem(.invalidRequest, "a preview needs the body of a create")
        }
        try parse(ticket)
        let query = try firesQuery(ticket)
        return .preview(try TimerBody(ticket.document, zones: zones).rules, query)
    }
}

/// Requests about deliveries.
extension RequestReader {
    /// Returns the delivery that the path names; nil if it names none.
    func namedDelivery(_ ticket: Ticket) -> EventID? {
        switch ticket.route {
        case .delivery, .deliveryRedrive: EventID(shown: ticket.parameter)
        default: nil
        }
    }

    /// Reads a request about the delivery that the path names.
    func delivery(_ ticket: Ticket) throws(Problem) -> Operation {
        guard let id = namedDelivery(ticket) else { throw .noDelivery }
        let action: SingleDeliveryRun.Action
        switch ticket.exchange.method {
        case .post: action = .redrive
        case .delete: action = .drop
        default: action = .show
        }
        if action != .show {
            try requireNothing(ticket)
            try refuse("if-match", ticket)
        }
        try requireNoParameters(ticket)
        return .deliveries(.one(SingleDeliveryRun(action, id)))
    }

    /// Reads a request to redrive all dead letters that a selector matches.
    func redrive(_ ticket: Ticket) throws(Problem) -> Operation {
        guard !ticket.exchange.body.isEmpty else {
            throw Problem(.invalidRequest, "a redrive of many needs a selector, such as {\"timer\": \"tea\"}")
        }
        try parse(ticket)
        try refuse("if-match", ticket)
        var query = QueryReader(ticket.target)
        let isDry = try query.flag("dryRun", default: false)
        try query.finish()
        let run = try BulkRedriveRun(ticket.document, isDry: isDry, siphash: siphash)
        try ticket.principal.check(.write, timer: run.timerID)
        return .deliveries(.redrive(run))
    }
}
