import HTTPServer
import TimerLog
import WireJSON

/// Joins parts of a page, of timers or of deliveries, in the order of their cursors.
///
/// Nothing is shown beyond the point up to which every part was looked through, so that the next page misses nothing. The page
/// reflects what each part reflects: all up to the least of the events that they name.
final class PageGathering<Cursor: PageCursor>: Gathering {
    private struct Member {
        let behind: Cursor
        let part: Int
        let json: Range<Int>
    }

    let scope: PartitionScope
    private let name: StaticString
    private let limit: Int
    private let read: ([UInt8]) -> Cursor?
    private var bodies: [[UInt8]] = []
    private var members: [Member] = []
    /// Up to here every part was looked through; nil where there is nothing beyond.
    private var bound: Cursor?
    private var head: EventID?

    /// - Parameters:
    ///   - name: of the member of the page that is the list.
    ///   - limit: most members that are wanted.
    ///   - read: reads a cursor; nil for what is none.
    init(_ scope: PartitionScope, _ name: StaticString, limit: Int, read: @escaping ([UInt8]) -> Cursor?) {
        self.scope = scope
        self.name = name
        self.limit = limit
        self.read = read
    }

    func add(_ answer: PartAnswer, for scope: PartitionScope) -> Bool {
        guard let event = answer.headers.first("event-id").flatMap({ EventID(shown: $0.bytes) }) else { return false }
        head = min(head ?? event, event)
        if let text = answer.headers.first(PartHeader.next) {
            guard let next = read(Array(text.bytes)) else { return false }
            bound = min(bound ?? next, next)
        }
        var start = 0
        while start < answer.body.count {
            let end = answer.body.span.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? answer.body.count
            guard let space = answer.body[start..<end].firstIndex(of: UInt8(ascii: " ")),
                let cursor = read(Array(answer.body[start..<space]))
            else { return false }
            members.append(Member(behind: cursor, part: bodies.count, json: space + 1..<end))
            start = end + 1
        }
        bodies.append(answer.body)
        return true
    }

    /// The page.
    func joined() -> JoinedMembers<Cursor> {
        var members = members.sorted { $0.behind < $1.behind }
        if let bound { members.removeAll { bound < $0.behind } }
        var page = JoinedMembers(head: head, next: bound)
        var bytes = 0
        for (index, member) in members.enumerated() {
            if index == limit || bytes >= APILimits.pageBytes {
                page.next = members[index - 1].behind
                break
            }
            page.members.append(bodies[member.part][member.json])
            bytes += member.json.count + 1
        }
        return page
    }

    func fill(_ ticket: Ticket) {
        let page = joined()
        var json = JSONWriter()
        json.beginObject()
        json.key(name)
        json.beginArray()
        for member in page.members { json.raw(Array(member)) }
        json.endArray()
        json.key("next")
        if let next = page.next { json.string(next.text) } else { json.null() }
        json.endObject()
        ticket.exchange.response.add("Content-Type", "application/json")
        ticket.exchange.response.body = json.bytes
        Renderer.fillPageHead(page.head, next: page.next?.text, ticket)
    }
}
