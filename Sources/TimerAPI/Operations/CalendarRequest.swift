import HTTPServer
import TimerCore
import TimerService
import WireJSON

/// The work that a request about calendars asks for.
enum CalendarRequest {
    case put(CalendarName, CalendarContent, OpenHours?, VersionCondition, unless: VersionCondition)
    case list(CalendarPage)
    case show(CalendarName)
    case open(CalendarName, OpenTime)
    case delete(CalendarName, VersionCondition)
    /// A refusal with the problem; with `notFound` instead if there is no calendar of that name.
    case fail(Problem, unlessMissing: CalendarName)
}

/// The answer to a request about calendars, whose text is made outside of the lock.
enum CalendarAnswer {
    case calendar(NamedCalendar, status: Int)
    case page(CalendarPage, CalendarTable)
    case open(OpenTime, NamedCalendar, Range<Int64>)
}

extension RequestReader {
    /// Reads a request about calendars. A missing calendar is reported before what else is wrong.
    func calendarRequest(_ ticket: Ticket) throws(Problem) -> CalendarRequest {
        if ticket.route == .calendars { return .list(try CalendarPage(ticket.target)) }
        guard let name = CalendarName(ticket.parameter) else {
            throw ticket.exchange.method == .put
                ? Problem(.invalidRequest, CalendarFields.nameRule) : Problem(CalendarRefusal.notFound)
        }
        if ticket.exchange.method == .put { return try put(name, ticket) }
        do throws(Problem) {
            if ticket.route == .calendarOpen { return .open(name, try OpenTime(ticket.target, zones: zones)) }
            try requireNoParameters(ticket)
            guard ticket.exchange.method == .delete else { return .show(name) }
            try requireNothing(ticket)
            return .delete(name, condition(ticket))
        } catch {
            return .fail(error, unlessMissing: name)
        }
    }

    private func put(_ name: CalendarName, _ ticket: Ticket) throws(Problem) -> CalendarRequest {
        guard !ticket.exchange.body.isEmpty else { throw Problem(.invalidRequest, "a calendar needs a JSON body") }
        try parse(ticket)
        try requireNoParameters(ticket)
        let content = try CalendarFields(ticket.document).content(of: name, zones: zones)
        let unless = ticket.exchange.list("if-none-match").map { Conditions.ifNoneMatch($0) } ?? .none
        // Here, as the engine's lock is not held.
        return .put(name, content, content.openHours(in: zones), condition(ticket), unless: unless)
    }
}

extension Executor {
    /// Carries a request about calendars out, in one step.
    func perform(_ request: CalendarRequest, _ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) {
        defer { ticket.rest(on: turn.head) }
        switch request {
        case .put(let name, let content, let hours, let condition, let unless):
            let (calendar, isNew) = try turn.putCalendar(
                name, content, made: hours, if: condition, unless: unless)
            ticket.outcome = .calendars(.calendar(calendar, status: isNew ? 201 : 200))
        case .list(let page): ticket.outcome = .calendars(.page(page, turn.calendars))
        case .show(let name): ticket.outcome = .calendars(.calendar(try find(name, turn), status: 200))
        case .open(let name, let time):
            let calendar = try find(name, turn)
            do throws(Problem) {
                ticket.outcome = .calendars(.open(time, calendar, try time.range(at: turn.now.wall)))
            } catch {
                ticket.outcome = .problem(error)
            }
        case .delete(let name, let condition):
            try turn.deleteCalendar(name, if: condition)
            ticket.outcome = .noContent
        case .fail(let problem, let name):
            _ = try find(name, turn)
            ticket.outcome = .problem(problem)
        }
    }

    private func find(_ name: CalendarName, _ turn: borrowing Turn) throws(ServiceError) -> NamedCalendar {
        guard let calendar = turn.calendars[name] else { throw .calendarRefused(.notFound) }
        return calendar
    }
}

extension Renderer {
    /// Fills the response to a request about calendars.
    static func fill(_ answer: CalendarAnswer, _ ticket: Ticket) {
        switch answer {
        case .calendar(let calendar, let status):
            fillTag(calendar.version, ticket)
            ticket.exchange.response.status = isUnchanged(calendar.version, ticket) ? 304 : status
            if status == 201 {
                ticket.exchange.response.add(
                    "Location", "\(Route.calendars.path)/\(String(decoding: calendar.name.bytes, as: UTF8.self))")
            }
            fillJSON(ticket) { CalendarJSON.write(calendar, &$0) }
        case .page(let page, let table):
            var next: String?
            fillJSON(ticket) { next = page.write(table, &$0) }
            addLink(next: next, ticket)
        case .open(let time, let calendar, let range):
            var json = JSONWriter()
            do throws(Problem) { try time.write(calendar, in: range, &json) } catch { return fill(error, ticket) }
            ticket.exchange.response.add("Content-Type", "application/json")
            ticket.exchange.response.body = json.bytes
        }
    }
}
