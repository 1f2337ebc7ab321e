import Testing

@testable import TimerAPI

struct TargetTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `path and query are taken apart before they are decoded`() throws {
        let target = try Target(Array("/v1/a%2Fb/%C3%A9?label=k%3Dv%26w&x=1+2&label=y&flag".utf8))
        #expect(target.parts.map { text(Array($0)) } == ["v1", "a/b", "é"])
        #expect(target.parameters.map(\.name) == ["label", "x", "label", "flag"])
        #expect(target.parameters.map { text($0.value) } == ["k=v&w", "1 2", "y", ""])
    }

    @Test(arguments: [
        ("/%", nil), ("/%4", nil), ("/%zz", nil), ("/a%00b", nil), ("/%ff", nil), ("/%c3", nil), ("/?%ff=a", nil),
        ("/?a=%", "a"), ("/?b=1&a=%ff", "a"),
    ])
    func `what does not decode is refused, and a parameter named`(text: String, parameter: String?) throws {
        let error = try #require(throws: Target.Malformed.self) { try Target(Array(text.utf8)) }
        #expect(error.parameter == parameter)
    }

    @Test(arguments: [
        ("/v1/timers?label=a%3Db>&label=c%3D%26+%2B", "label=a%3Db%3E&label=c%3D%26%20%2B&"),
        (
            "/v1/%74imers?state=idle,running&dueBefore=2030-01-01T00:00:00Z",
            "state=idle,running&dueBefore=2030-01-01T00:00:00Z&"
        ),
        ("/v1/timers?cursor=1&%63ursor=2", ""),
    ])
    func `the next page is asked for as this one, by another cursor`(text: String, kept: String) throws {
        let target = try Target(Array(text.utf8))
        #expect(Renderer.nextTarget(.timers, target.parameters, "7") == "/v1/timers?\(kept)cursor=7")
    }
}
