import Testing

@testable import TimerdCommand

struct RequestTargetTests {
    @Test(arguments: [
        ("tea", "tea"), (".", "%2E"), ("..", "%2E%2E"), ("a.b", "a.b"), ("a/b", "a%2Fb"), ("a b?c#d", "a%20b%3Fc%23d"),
        ("100%", "100%25"), ("é", "%C3%A9"), ("a\r\nHost: x", "a%0D%0AHost%3A%20x"), ("A-Z_~09", "A-Z_~09"), ("", ""),
    ])
    func `each part of a path is encoded`(id: String, text: String) {
        #expect(RequestTarget("v1", "timers", id, "next").text == "/v1/timers/\(text)/next")
    }

    @Test func `parameters with a value follow`() {
        var target = RequestTarget("v1", "timers")
        target.add("state", nil)
        #expect(target.text == "/v1/timers")
        target.add("label", "a=b")
        target.add("label", "c=d e")
        target.add("limit", "10")
        #expect(target.text == "/v1/timers?label=a%3Db&label=c%3Dd%20e&limit=10")
    }

    @Test func `events of a timer, of all, and the last of a timer that is gone`() {
        let one = EventQuery(id: "tea", types: "fired,cancelled", labels: [])
        #expect(one.target(since: nil, isLast: false) == "/v1/timers/tea/events?types=fired%2Ccancelled")
        #expect(one.target(since: "7", isLast: true) == "/v1/events?types=fired%2Ccancelled&since=7&follow=false")
        let all = EventQuery(id: nil, types: nil, labels: ["a=b"])
        #expect(all.target(since: "0", limit: 5) == "/v1/events?label=a%3Db&since=0&limit=5&follow=false")
    }
}
