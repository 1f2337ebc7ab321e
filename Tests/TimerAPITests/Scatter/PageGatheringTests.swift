import HTTPServer
import Testing
import TimerCore
import TimerLog

@testable import TimerAPI

/// Parts of a page that are joined.
struct PageGatheringTests {
    private let whole = PartitionScope(.single)

    /// A part with members at some places, as a server sends it.
    private func part(_ places: [UInt64], next: UInt64? = nil, event: Int64 = 1, size: Int = 0) -> PartAnswer {
        var answer = PartAnswer(status: 200)
        func add(_ name: String, _ value: String) {
            answer.headers.append(name: Array(name.utf8)[...], value: Array(value.utf8)[...])
        }
        add("event-id", EventID(event).text)
        if let next { add("timerd-next", ListCursor.place(next).text) }
        for place in places {
            let filler = String(repeating: "x", count: size)
            answer.body += Array("\(ListCursor.place(place).text) {\"at\":\"\(place)\(filler)\"}\n".utf8)
        }
        return answer
    }

    private func join(_ parts: [PartAnswer], limit: Int = 100) -> PageGathering<ListCursor> {
        let page = PageGathering(whole, "timers", limit: limit) { ListCursor($0, bySoonest: false) }
        for part in parts { #expect(page.add(part, for: whole)) }
        return page
    }

    private func places(_ page: JoinedMembers<ListCursor>) -> [String] {
        page.members.map { String(decoding: $0, as: UTF8.self) }
    }

    private func text(_ places: [Int]) -> [String] { places.map { "{\"at\":\"\($0)\"}" } }

    @Test func `members come in the order of their cursors`() {
        let page = join([part([1, 5, 9]), part([]), part([2, 7]), part([3])]).joined()
        #expect(places(page) == text([1, 2, 3, 5, 7, 9]) && page.next == nil)
    }

    @Test func `nothing is shown beyond what every part was looked through`() {
        let page = join([part([1, 5, 9]), part([2, 4], next: 6), part([3, 6, 8], next: 8)]).joined()
        #expect(places(page) == text([1, 2, 3, 4, 5, 6]) && page.next == .place(6))
        // A part may have looked far without a find.
        let short = join([part([], next: 2), part([1, 3])]).joined()
        #expect(places(short) == text([1]) && short.next == .place(2))
    }

    @Test func `a page ends at its limit`() {
        let page = join([part([1, 5, 9]), part([2, 7])], limit: 3).joined()
        #expect(places(page) == text([1, 2, 5]) && page.next == .place(5))
        let full = join([part([1, 5]), part([2])], limit: 3).joined()
        #expect(places(full) == text([1, 2, 5]) && full.next == nil)
    }

    @Test func `a page ends at its bytes`() {
        let size = APILimits.pageBytes / 4
        let page = join([part([1, 4], size: size), part([2, 3, 5, 6], size: size)]).joined()
        #expect(page.members.count == 4 && page.next == .place(4))
    }

    @Test func `a page reflects what each part does`() {
        #expect(join([part([1], event: 7), part([2], event: 5), part([3], event: 9)]).joined().head == EventID(5))
    }

    @Test func `what no part gives is refused`() {
        let page = PageGathering(whole, "timers", limit: 9) { ListCursor($0, bySoonest: false) }
        var cut = part([1])
        cut.body = Array("0001 {}\n".utf8)
        #expect(!page.add(cut, for: whole) && !page.add(PartAnswer(status: 200), for: whole))
    }

    @Test func `cursors are in the order of their lists`() {
        let soonest = [(-5, 9), (3, 1), (3, 2), (4, 0)].map {
            ListCursor.due(.init(due: Int64($0.0), place: UInt64($0.1)))
        }
        #expect(soonest.shuffled().sorted() == soonest)
    }
}
