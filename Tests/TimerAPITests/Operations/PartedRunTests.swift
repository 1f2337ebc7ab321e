import Testing
import TimerCore
import WireJSON

@testable import TimerAPI

struct PartedRunTests {
    @Test func `a bulk run goes on behind its last part, and behind no other's`() throws {
        var document = JSONDocument()
        try document.parse(Array(#"{"states":["idle"]}"#.utf8))
        let run = try BulkRun(Array("cancel".utf8), isDry: false, document)
        let earlier = BulkProgress(after: 7, counts: BulkCounts(matched: 3, changed: 2, skipped: 1))
        let newest = BulkProgress(after: 9, counts: BulkCounts(matched: 5, changed: 4, skipped: 1))
        #expect(run.resume(behind: [earlier.part, newest.part]))
        #expect(run.progress == newest)
        #expect(run.takePart(isLast: false) == nil)
        #expect(run.takePart(isLast: true) == newest.part)
        #expect(!run.resume(behind: [[PartShape.lines.rawValue]]))
        #expect(run.resume(behind: []))
        #expect(run.progress == BulkProgress())
    }
}
