import Testing

@testable import TimerAPI

struct EventIDTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(
        arguments: [
            ("0", 0), ("42", 42), ("0000000000000000042", 42), ("9223372036854775807", .max),
            ("9999999999999999999", .max), ("", nil), ("-1", nil), ("1x", nil), ("00000000000000000001", nil),
        ] as [(String, Int64?)])
    func `an event id is a number of at most its width`(text: String, id: Int64?) {
        #expect(EventID(Array(text.utf8))?.position == id)
    }

    @Test(
        arguments: [
            (0, "0000000000000000000"), (1, "0000000000000000001"), (1_927_621_480_389_017_600, "1927621480389017600"),
            (.max, "9223372036854775807"),
        ] as [(Int64, String)])
    func `an event id is shown in full width and read back`(id: Int64, shown: String) {
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: EventID.width) { EventID(id).append(to: &$0) }
        #expect(bytes.count == EventID.width)
        #expect(text(bytes) == shown && EventID(id).text == shown)
        #expect(EventID(bytes) == EventID(id))
    }
}
