import Testing

@testable import Webhooks

struct TimerCommandHeaderTests {
    @Test(
        arguments: [
            ("cancel", .cancel), ("Cancel", .cancel), (" \tCANCEL ", .cancel), ("suspend", .suspend),
            ("SUSPEND\t", .suspend), ("reschedule=30m", .reschedule(Array("30m".utf8))),
            (" Reschedule = 1h30m ", .reschedule(Array("1h30m".utf8))),
            ("reschedule=PT5M", .reschedule(Array("PT5M".utf8))),
            ("reschedule=1.5s", .reschedule(Array("1.5s".utf8))),
            ("reschedule=nonsense", .reschedule(Array("nonsense".utf8))),
        ] as [(String, TimerCommandHeader)])
    func `a command is read`(text: String, expected: TimerCommandHeader) {
        #expect(TimerCommandHeader(Array(text.utf8)) == expected)
    }

    @Test(arguments: [
        "", " ", "cancelled", "can cel", "cancel=", "cancel=1", "cancel, suspend", "cancel;x", "suspend=now", "resume",
        "reschedule", "reschedule=", "reschedule= ", "reschedule 5m", "reschedule=5m=6m", "reschedule=5m, cancel",
        "reschedule=5m 6m", "reschedule=5µs", "=5m", "cancel\u{0}", "cancel\r\n", "\"cancel\"", "cancél",
        "reschedule=" + String(repeating: "1", count: 118),
    ])
    func `anything else is malformed`(text: String) {
        #expect(TimerCommandHeader(Array(text.utf8)) == nil)
    }

    @Test func `any bytes are a command or malformed`() {
        var numbers = Numbers(state: 8)
        let bases = ["cancel", "suspend", "reschedule=1h30m"].map { Array($0.utf8) }
        for round in 0..<20_000 {
            let bytes = numbers.mutation(of: bases[round % 3], alphabet: Array("=, \tcC\u{0}1".utf8))
            guard case .reschedule(let text)? = TimerCommandHeader(bytes) else { continue }
            #expect(!text.isEmpty && !text.contains(0x20) && !text.contains(UInt8(ascii: "=")))
        }
    }
}
