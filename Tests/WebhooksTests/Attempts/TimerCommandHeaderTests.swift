import TestSupport
import Testing

@testable import Webhooks

struct TimerCommandHeaderTests {
    @Test(
        arguments: [
            ("cancel", .cancel), ("Cancel", .cancel), (" \tCANCEL ", .cancel), ("suspend", .suspend),
            ("SUSPEND\t", .suspend), ("reschedule=30m", .reschedule(1_800_000)),
            (" Reschedule = 1h30m ", .reschedule(5_400_000)), ("reschedule=PT5M", .reschedule(300_000)),
            ("reschedule=1.5s", .reschedule(1500)), ("reschedule=0s", .reschedule(0)),
            ("reschedule=36525d", .reschedule(3_155_760_000_000, inDays: true)),
            ("reschedule=P2W", .reschedule(1_209_600_000, inDays: true)),
        ] as [(String, TimerCommandHeader)])
    func `a command is read`(text: String, expected: TimerCommandHeader) {
        #expect(TimerCommandHeader(Array(text.utf8)) == expected)
    }

    @Test(arguments: [
        "", " ", "cancelled", "can cel", "cancel=", "cancel=1", "cancel, suspend", "cancel;x", "suspend=now", "resume",
        "reschedule", "reschedule=", "reschedule= ", "reschedule 5m", "reschedule=5m=6m", "reschedule=5m, cancel",
        "reschedule=5m 6m", "reschedule=5µs", "reschedule=5", "reschedule=-5m", "reschedule=0.1ms", "reschedule=pt5m",
        "reschedule=36525d1ms", "reschedule=nonsense", "=5m", "cancel\u{0}", "cancel\r\n", "\"cancel\"", "cancél",
        "reschedule=" + String(repeating: "1", count: 118),
    ])
    func `anything else is malformed`(text: String) {
        #expect(TimerCommandHeader(Array(text.utf8)) == nil)
    }

    @Test func `any bytes are a command or malformed`() {
        var numbers = SeededGenerator(seed: 8)
        let bases = ["cancel", "suspend", "reschedule=1h30m"].map { Array($0.utf8) }
        for round in 0..<20_000 {
            let bytes = numbers.mutation(of: bases[round % 3], alphabet: Array("=, \tcC\u{0}1".utf8))
            guard case .reschedule(let milliseconds, _)? = TimerCommandHeader(bytes) else { continue }
            #expect((0...3_155_760_000_000).contains(milliseconds))
        }
    }
}
