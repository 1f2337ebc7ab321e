import HTTPServer
import TimerCore
import TimerService
import WireJSON

/// Fills responses from outcomes.
enum Renderer {
    /// Fills the response of a ticket whose outcome is final. A second call does nothing.
    static func render(_ ticket: Ticket) {
        guard !ticket.isRendered else { return }
        ticket.isRendered = true
        ticket.beginResponse()
        if ticket.isReplay { ticket.exchange.response.add("Idempotency-Replayed", "true") }
        if ticket.isRouted, ticket.route.isAboutKeys { ticket.exchange.response.add("Cache-Control", "no-store") }
        switch ticket.outcome {
        case .problem(let problem): fill(problem, ticket)
        case .timer(let status): fillTimer(status, ticket)
        case .noContent: ticket.exchange.response.status = 204
        case .differences(let differences): fillJSON(ticket) { differences.write(&$0) }
        case .fires(let fires, let isDescribed): fillFires(fires, isDescribed: isDescribed, ticket)
        case .list(let run): fillList(run, ticket)
        case .batch(let run): fillBatch(run, ticket)
        case .bulk(let counts): fillJSON(ticket) { counts.write(&$0) }
        case .delivery(let entry): fillJSON(ticket) { DeliveryJSON.write(entry, &$0) }
        case .deliveries(let run): fillDeliveries(run, ticket)
        case .keys(let answer): fillKeys(answer, ticket)
        case .calendars(let answer): fill(answer, ticket)
        case .stored(let stored): fill(stored, ticket)
        case .html(let page): page.fill(ticket.exchange)
        case .document(let document): document.fill(ticket.exchange)
        case .page(let status, let type, let body):
            ticket.exchange.response.status = status
            ticket.exchange.response.add("Content-Type", type)
            ticket.exchange.response.body = body
        case .none, .stream, .replay, .needsEvents, .webhookTest, .handOver, .gone:
            preconditionFailure("streams, replays, tests, hand-overs and open outcomes are not rendered here")
        }
    }

    /// Fills the response with what `body` writes.
    static func fillJSON(_ ticket: Ticket, _ body: (inout JSONWriter) -> Void) {
        ticket.exchange.response.add("Content-Type", "application/json")
        body(&ticket.scratch.json)
        ticket.scratch.json.append(0..<ticket.scratch.json.count, to: &ticket.exchange.response.body)
        ticket.scratch.json.reset(keeping: APILimits.scratchBytes)
    }

    /// Fills the response with a problem.
    static func fill(_ problem: Problem, _ ticket: Ticket) {
        var problem = problem
        if ticket.mayBeStored { problem.markSentBefore() }
        fill(problem, ticket.exchange, requestID: ticket.requestID)
    }

    /// Fills the response with a problem, without a ticket; `Request-Id` is set already.
    static func fill(_ problem: Problem, _ exchange: Exchange, requestID: [UInt8]) {
        fill(
            problem, &exchange.response, target: exchange.target, isForwarded: exchange.isFromPeer, requestID: requestID
        )
    }

    /// Fills a response with a problem; `Request-Id` is set already.
    ///
    /// - Parameter isForwarded: whether another server has forwarded the request.
    static func fill(
        _ problem: Problem, _ response: inout Response, target: [UInt8], isForwarded: Bool, requestID: [UInt8]
    ) {
        response.status = problem.status ?? problem.kind.status
        response.add("Content-Type", "application/problem+json")
        let seconds = problem.retryAfter ?? (response.status == 503 ? 1 : nil)
        if let seconds { response.add("Retry-After", String(seconds)) }
        if problem.kind == .unauthorized { response.add("WWW-Authenticate", "Bearer") }
        // Another server knows the problem by this, and keeps it from its client.
        if isForwarded {
            let isOfClient = problem.kind == .unauthorized && !problem.isOfServer
            response.add(
                "Timerd-Problem", isOfClient ? "\(TimerHandler.clientUnauthorized)" : problem.kind.rawValue)
        }
        var json = JSONWriter()
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        // A target that was refused for its bytes may hold any bytes.
        problem.write(&json, instance: Array(Target.visible(path).utf8), requestID: requestID)
        response.body = json.bytes
    }

    /// The path below which timers are.
    private static let timers: StaticString = "/v1/timers/"

    private static func fillTimer(_ status: Int, _ ticket: Ticket) {
        let version = ticket.view.progress.version
        let eventID = EventID(ticket.view.eventID)
        let principal = ticket.principal
        if principal.isKickOnly {
            ticket.exchange.response.status = 204
            return
        }
        fillTag(version, ticket)
        ticket.exchange.response.add("Event-Id", upTo: EventID.width) { eventID.append(to: &$0) }
        ticket.exchange.response.status = isUnchanged(version, ticket) ? 304 : status
        if status == 201 {
            let id = ticket.parameter
            ticket.exchange.response.add("Location", upTo: timers.utf8CodeUnitCount + id.count) { text in
                text.append(timers)
                text.append(copying: id.span)
            }
        }
        fillJSON(ticket) { TimerJSON.write(ticket.view, seesMasks: principal.seesMasks, &$0) }
    }

    /// Adds the entity tag of a version.
    static func fillTag(_ version: Int64, _ ticket: Ticket) {
        ticket.exchange.response.add("ETag", upTo: Conditions.longestTag) { Conditions.appendTag(version, to: &$0) }
    }

    /// Whether the client that reads has the version already. The answer is then 304, whose `Content-Length` is that of the
    /// content which the client has (RFC 9110, 8.6).
    static func isUnchanged(_ version: Int64, _ ticket: Ticket) -> Bool {
        guard ticket.exchange.method == .get || ticket.exchange.method == .head else { return false }
        return ticket.exchange.list("if-none-match").map { Conditions.ifNoneMatch($0, names: version) } ?? false
    }

    private static func fillFires(_ fires: UpcomingFires, isDescribed: Bool, _ ticket: Ticket) {
        fillJSON(ticket) { json in
            json.beginObject()
            json.beginArray("fires")
            for fire in fires.instants { json.instant(fire) }
            json.endArray()
            if isDescribed { json.member("description", text: fires.words) }
            json.endObject()
        }
    }

    private static func fillList(_ run: ListRun, _ ticket: Ticket) {
        let seesMasks = ticket.principal.seesMasks
        fillJSON(ticket) { json in
            json.beginObject()
            json.beginArray("timers")
            let members = run.members
            for index in members.indices {
                // Escapes may make a timer longer than the run has estimated.
                if json.count >= APILimits.pageBytes {
                    run.cut(to: index)
                    break
                }
                TimerJSON.write(members[index].view, seesMasks: seesMasks, &json)
            }
            json.endArray()
            json.member("next", text: run.next?.text)
            json.endObject()
        }
        fillPageHead(run.head, next: run.next?.text, ticket)
    }

    private static func fillDeliveries(_ run: DeliveryListRun, _ ticket: Ticket) {
        fillJSON(ticket) { json in
            json.beginObject()
            json.beginArray("deliveries")
            for (index, entry) in run.entries.enumerated() {
                if json.count >= APILimits.pageBytes {
                    run.cut(to: index)
                    break
                }
                DeliveryJSON.write(entry, &json)
            }
            json.endArray()
            json.member("next", text: run.next?.text)
            json.endObject()
        }
        fillPageHead(run.head, next: run.next?.text, ticket)
    }

    /// Adds the headers of a page: the id up to which it reflects events, and the link to the next page.
    private static func fillPageHead(_ head: EventID?, next: String?, _ ticket: Ticket) {
        ticket.exchange.response.add("Event-Id", (head ?? .beginning).text)
        addLink(next: next, ticket)
    }

    /// Adds the link to the next page.
    ///
    /// - Parameter next: the cursor of that page; nil if there is none.
    static func addLink(next: String?, _ ticket: Ticket) {
        guard let next else { return }
        ticket.exchange.response.add(
            "Link", "<\(nextTarget(ticket.route, ticket.target.parameters, next))>; rel=\"next\"")
    }

    /// Returns the target of the next page: this page's with another cursor. Parameters are encoded again, so that
    /// none can end the link early or be a second cursor.
    static func nextTarget(_ route: Route, _ parameters: [(name: String, value: [UInt8])], _ cursor: String) -> String {
        let kept = parameters.filter { $0.name != "cursor" } + [("cursor", Array(cursor.utf8))]
        let query = kept.map { "\(Target.queryPart($0.name.utf8))=\(Target.queryPart($0.value))" }
        return "\(route.path)?\(query.joined(separator: "&"))"
    }

    private static func fillKeys(_ answer: KeyAnswer, _ ticket: Ticket) {
        ticket.exchange.response.status = answer.status
        if let made = answer.made { ticket.exchange.response.add("Location", "/v1/keys/\(made.text)") }
        var next: String?
        fillJSON(ticket) { next = answer.write(&$0) }
        addLink(next: next, ticket)
    }

    private static func fillBatch(_ run: BatchRun, _ ticket: Ticket) {
        ticket.exchange.response.add("Content-Type", run.form.mediaType)
        run.appendOutput(to: &ticket.exchange.response.body)
    }

    private static func fill(_ stored: StoredResponse, _ ticket: Ticket) {
        ticket.exchange.response.status = stored.status
        ticket.exchange.response.add("ETag", stored.tag)
        ticket.exchange.response.add("Location", stored.location)
        if !stored.body.isEmpty { ticket.exchange.response.add("Content-Type", stored.type) }
        ticket.exchange.response.body = stored.body
    }
}
