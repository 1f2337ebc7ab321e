import Testing
import TimerCore

@testable import TimerdCommand

struct CompletionsTests {
    private static let script = CommandRun("completion", "bash").output

    @Test(arguments: [
        ("'--state')", TimerState.allCases.map { "\($0.name)" }),
        ("'--kind')", TimerKind.allCases.map { "\($0.name)" }),
        ("'--health')", ["ok", "stalled"]), ("'--type')", EventType.allCases.map { "\($0.name)" }),
        ("'--clock')", TimerClock.allCases.map { "\($0.name)" }),
        ("'--mode')", RepeatMode.allCases.map { "\($0.name)" }),
        ("'--misfire')", MisfirePolicy.allCases.map { "\($0.name)" }),
        ("'--scope')", ["read", "kick", "write", "admin"]),
        ("'--on-resume')", ResumePolicy.allCases.map { "\($0.name)" }), ("'--state')", ["pending", "dead"]),
    ])
    func `an option offers the words of its table`(option: String, words: [String]) {
        let list = words.map { "'\($0)'" }.joined(separator: "$'\\n'")
        #expect(Self.script.contains("    \(option)\n        __timerd_add_completions -W \(list)\n"))
    }

    @Test func `an argument offers the words of its table`() {
        for words in [Bulk.actions, ["zsh", "bash", "fish"]] {
            let list = words.map { "'\($0)'" }.joined(separator: "$'\\n'")
            #expect(Self.script.contains("__timerd_add_completions -W \(list)\n"))
        }
    }
}
