import HTTPServer
import TimerCore
import TimerService
import WireJSON

/// Parts of pages, as servers send them to each other: a line for each member, which is its cursor, a space, and its JSON. So
/// the server that joins them need not read the JSON.
extension Renderer {
    /// The media type of such a part.
    static let partType: StaticString = "application/vnd.timerd.page-part"

    /// Fills the response with the timers of a part.
    static func fillPart(_ run: ListRun, _ ticket: Ticket) {
        fillLines(ticket) { json in
            for (index, member) in run.members.enumerated() {
                if json.count >= APILimits.pageBytes { return run.cut(to: index) }
                writeCursor(member.behind.text, &json)
                TimerJSON.write(member.view, &json)
                json.newline()
            }
        }
        fillPartHead(run.head, next: run.next?.text, ticket)
    }

    /// Fills the response with the deliveries of a part.
    static func fillPart(_ run: DeliveryListRun, _ ticket: Ticket) {
        fillLines(ticket) { json in
            for (index, entry) in run.entries.enumerated() {
                if json.count >= APILimits.pageBytes { return run.cut(to: index) }
                writeCursor(EventID(entry.standing.id).text, &json)
                DeliveryJSON.write(entry, &json)
                json.newline()
            }
        }
        fillPartHead(run.head, next: run.next?.text, ticket)
    }

    private static func writeCursor(_ cursor: String, _ json: inout JSONWriter) {
        let text = Array(cursor.utf8) + [UInt8(ascii: " ")]
        json.between(upTo: text.count) { $0.append(copying: text.span) }
    }

    private static func fillLines(_ ticket: Ticket, _ body: (inout JSONWriter) -> Void) {
        ticket.exchange.response.add("Content-Type", partType)
        body(&ticket.scratch.json)
        ticket.scratch.json.append(0..<ticket.scratch.json.count, to: &ticket.exchange.response.body)
        ticket.scratch.json.reset(keeping: APILimits.scratchBytes)
    }

    private static func fillPartHead(_ head: EventID?, next: String?, _ ticket: Ticket) {
        ticket.exchange.response.add("Event-Id", (head ?? .beginning).text)
        if let next { ticket.exchange.response.add(PartHeader.next, next) }
    }
}
