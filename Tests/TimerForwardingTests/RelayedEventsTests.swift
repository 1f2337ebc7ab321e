import HTTPServer
import Testing
import TimerAPI

@testable import TimerForwarding

/// How the bytes of another server's stream are cut into events.
struct RelayedEventsTests {
    private static let ids = ["0000000000000000007", "0000000000000000009", "0000000000000000012"]

    private static func event(_ id: String, _ format: StreamFormat) -> String {
        let object = #"{"id":"\#(id)","type":"fired","payload":"\\n"}"#
        return format == .ndjson ? "\(object)\n" : "id: \(id)\nevent: fired\ndata: \(object)\n\n"
    }

    private func heartbeat(_ id: String, _ format: StreamFormat) -> String {
        EventID(shown: id.utf8).map { String(decoding: format.heartbeatToServer($0).bytes, as: UTF8.self) } ?? ""
    }

    /// The text that a client gets of `text` if it comes in pieces of some bytes.
    private func pass(_ text: String, _ events: inout RelayedEvents, by count: Int) -> String {
        var passed: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            passed += events.take(Array(rest.prefix(count)).span)
            rest = rest.dropFirst(count)
        }
        return String(decoding: passed, as: UTF8.self)
    }

    @Test(arguments: [StreamFormat.sse, .ndjson], 1...60)
    func `whole events pass, however they come`(format: StreamFormat, by count: Int) {
        var events = RelayedEvents(format)
        let whole = Self.ids.map { Self.event($0, format) }.joined()
        let text = whole + Self.event("0000000000000000013", format).dropLast()
        #expect(pass(text, &events, by: count) == whole)
        #expect(events.count == 3 && events.examined?.text == Self.ids[2])
    }

    @Test(arguments: [StreamFormat.sse, .ndjson], [1, 7, 1000])
    func `a heartbeat names the id examined, and is no event`(format: StreamFormat, by count: Int) {
        var events = RelayedEvents(format)
        let event = Self.event(Self.ids[0], format)
        let passed = pass(
            heartbeat("0000000000000000003", format) + event + heartbeat(Self.ids[1], format), &events, by: count)
        let beats = format == .sse ? ["id: 0000000000000000003\n\n", "id: \(Self.ids[1])\n\n"] : ["\n", "\n"]
        #expect(passed == beats[0] + event + beats[1])
        #expect(events.count == 1 && events.examined?.text == Self.ids[1])
    }

    @Test(arguments: [StreamFormat.sse, .ndjson]) func `an event without an end is too long`(format: StreamFormat) {
        var events = RelayedEvents(format)
        _ = pass(String(repeating: "x", count: 1 << 20), &events, by: 1 << 16)
        #expect(!events.isOverlong)
        _ = pass("x", &events, by: 1)
        #expect(events.isOverlong)
    }
}
