import Testing
import TimerCore

@testable import TimerAPI

struct TargetTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `path and query are taken apart before they are decoded`() throws {
        let target = try Target(Array("/v1/a%2Fb/%C3%A9?label=k%3Dv%26w&x=1+2&label=y&flag".utf8))
        #expect(target.parts.map { text(Array($0)) } == ["v1", "a/b", "é"])
        #expect(target.parameters.map(\.name) == ["label", "x", "label", "flag"])
        #expect(target.parameters.map { text($0.value) } == ["k=v&w", "1 2", "y", ""])
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/a%00b", "/%ff", "/%c3", "/?a=%", "/?a=%ff"])
    func `what does not decode is refused`(text: String) {
        #expect(throws: Target.Malformed.self) { try Target(Array(text.utf8)) }
    }

    @Test(
        arguments: [
            ("0", 0), ("42", 42), ("0000000000000000042", 42), ("9223372036854775807", .max),
            ("9999999999999999999", .max), ("", nil), ("-1", nil), ("1x", nil), ("00000000000000000001", nil),
        ] as [(String, Int64?)])
    func `an event id is a number of at most its width`(text: String, id: Int64?) {
        #expect(EventID(Array(text.utf8))?.position == id)
    }

    @Test(arguments: [0, 1, 1_927_621_480_389_017_600, Int64.max])
    func `an event id is shown in full width and read back`(id: Int64) {
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: EventID.width) { EventID(id).append(to: &$0) }
        #expect(bytes.count == EventID.width)
        #expect(text(bytes) == EventID(id).text)
        #expect(EventID(bytes) == EventID(id))
    }

    @Test(
        arguments: [
            ("\"v3\"", 3, true), ("W/\"v3\"", 3, true), ("\"v4\"", 3, false), ("\"v1\", \"v3\"", 3, true),
            ("*", 9, true),
            ("v3", 3, false), ("\"3\"", 3, false),
        ] as [(String, Int64, Bool)])
    func `If-None-Match compares weakly`(header: String, version: Int64, names: Bool) {
        #expect(Conditions.ifNoneMatch(Array(header.utf8)[...], names: version) == names)
    }

    @Test func `If-Match never matches a weak tag`() {
        #expect(Conditions.ifMatch(Array("W/\"v3\"".utf8)[...]) == .oneOf([]))
        #expect(Conditions.ifMatch(Array("\"v3\", W/\"v4\", \"v5\"".utf8)[...]) == .oneOf([3, 5]))
        #expect(Conditions.ifMatch(Array("*".utf8)[...]) == .exists)
    }

    @Test(
        arguments: [
            ("00000000000000ff", false), ("00000000000000ff-0000000000000001", true),
        ] as [(String, Bool)])
    func `a cursor is read in the one spelling that a page gives it`(text: String, bySoonest: Bool) {
        #expect(ListCursor(Array(text.utf8), bySoonest: bySoonest)?.text == text)
        #expect(ListCursor(Array(text.utf8), bySoonest: !bySoonest) == nil)
        #expect(ListCursor(Array(text.uppercased().utf8), bySoonest: bySoonest) == nil)
        #expect(ListCursor(Array(("+" + text.dropFirst()).utf8), bySoonest: bySoonest) == nil)
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
