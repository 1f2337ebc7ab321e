import Testing

@testable import TimerdCommand

struct StatsTextTests {
    @Test func `stats are a line a concern`() throws {
        let json = #"""
            {"version":"1.2.3","uptime":"50h30m","timers":{"idle":0,"running":2,"suspended":1},"fires":7,"events":12,
             "eventId":"99","streams":1,"pendingDeliveries":3,"deadDeliveries":4,"idempotencyKeys":5,"logBytes":1536,
             "residentBytes":104857600}
            """#
        let stats = try #require(JSONObject(Array(json.utf8)))
        #expect(
            StatsText.lines(stats) == """
                server       timerd 1.2.3, up 2d2h
                timers       3: 2 running, 1 suspended
                fires        7
                events       12, newest 99
                streams      1
                deliveries   3 pending, 4 dead
                idempotency  5 keys
                log          1.5 KiB
                memory       100 MiB
                """)
    }

    @Test(arguments: [("true", "2h, drained"), ("false", "2h")]) func `a drain is told`(value: String, told: String)
        throws
    {
        let stats = try #require(JSONObject(Array(#"{"version":"1","uptime":"2h","drained":\#(value)}"#.utf8)))
        #expect(StatsText.lines(stats).hasPrefix("server       timerd 1, up \(told)\n"))
    }

    @Test func `what a server does not say is a question mark`() throws {
        let text = StatsText.lines(try #require(JSONObject(Array("{}".utf8))))
        #expect(text.hasPrefix("server       timerd ?, up ?\ntimers       0\nfires        ?\n"))
        #expect(text.hasSuffix("\nlog          ?\nmemory       ?"))
    }
}
