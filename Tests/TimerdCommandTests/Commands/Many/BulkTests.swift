import TestSupport
import Testing

@testable import TimerdCommand

struct BulkTests {
    @Test func `one thing is done to every timer that matches`() throws {
        let server = try WholeServer()
        func run(_ line: String) throws -> CommandRun { try server.run(line.split(separator: " ").map(String.init)) }
        for id in ["a", "b", "c"] { _ = try run("create \(id) --after 1h --label x=y").printed() }
        _ = try run("suspend a").printed()
        #expect(try run("bulk suspend --label x=y --dry-run").printed() == "3 matched, 2 would change, 1 skipped\n")
        #expect(try run("bulk suspend --label x=y").printed() == "3 matched, 2 changed, 1 skipped\n")
        let moved = try run("bulk reschedule --label x=y --after 2h --json").printed()
        let counts = try #require(JSONObject(Array(moved.utf8)))
        #expect([counts["matched"], counts["changed"], counts["skipped"]] == ["3", "3", "0"])
        #expect(try run("bulk cancel --label x=y --state runing").refusal(1).contains("400"))
        let deleted = try run("bulk delete --label x=y --state suspended,idle").printed()
        #expect(deleted == "3 matched, 3 changed, 0 skipped\n")
    }
}
