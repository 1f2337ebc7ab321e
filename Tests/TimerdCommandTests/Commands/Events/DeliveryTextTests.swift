import Testing

@testable import TimerdCommand

struct DeliveryTextTests {
    /// 2026-11-21T09:00:00Z.
    private let now: Int64 = 1_795_251_600_000

    private func object(_ json: String) throws -> JSONObject { try #require(JSONObject(Array(json.utf8))) }

    @Test func `a delivery is a line`() throws {
        let delivery = try object(#"{"id":"7","state":"pending","type":"fired","timer":"a\u202eb"}"#)
        #expect(DeliveryText.line(delivery) == "7: pending, fired of a b")
        #expect(DeliveryText.line(try object("{}")) == "?: ?, ? of ?")
    }

    @Test func `a row says when the last attempt was, and when the next one is`() throws {
        let json = #"""
            {"id":"7","state":"pending","timer":"tea","type":"fired","at":"2026-11-21T08:00:00.123Z","attempts":2,
             "error":"status","lastStatus":503,"lastAttemptAt":"2026-11-21T08:59:00.000Z",
             "nextAttemptAt":"2026-11-21T10:00:00.000Z"}
            """#
        let shown = [
            "7", "pending", "tea", "fired", "2026-11-21T08:00:00Z", "2", "status 503", "1m ago", "in 1h",
        ]
        #expect(DeliveryText.row(try object(json), now: now).map(\.text) == shown)
    }

    @Test(arguments: [
        (#""error":"unreachable","reason":"attempts""#, "unreachable"),
        (#""error":"timeout","reason":"backlog""#, "timeout, backlog"), (#""reason":"backlog""#, "backlog"),
        (#""error":"status","lastStatus":410,"reason":"gone","timerDeleted":true"#, "status 410, gone, timer deleted"),
        (#""timerDeleted":false"#, "-"),
    ])
    func `why a delivery is dead is told`(members: String, why: String) throws {
        let json = #"{"state":"dead","expiresAt":"2026-11-27T09:00:00.000Z",\#(members)}"#
        let row = DeliveryText.row(try object(json), now: now).map(\.text)
        #expect(row[6] == why)
        #expect(row[8] == "expires in 6d")
    }
}
