import Testing
import TimerCore

struct MistakenWordTests {
    @Test(arguments: [
        ("pause", TimerCommand.suspend), ("Pause", .suspend), ("unpause", .resume), ("continue", .resume),
        ("start", .activate),
        ("stop", .cancel), ("reset", .reschedule), ("trigger", .fire), ("run", .fire), ("ping", .kick),
    ])
    func `a usual mistake is known`(word: String, command: TimerCommand) {
        #expect(MistakenWord.command(meantBy: word) == command)
    }

    @Test(arguments: ["", "explode", "suspend", "pausé"])
    func `another word is not guessed`(word: String) {
        #expect(MistakenWord.command(meantBy: word) == nil)
    }

    @Test func `no command is a mistake, and each word is in small letters`() {
        let commands = TimerCommand.allCases.map { "\($0.name)" }
        #expect(MistakenWord.all.filter { commands.contains($0.word) || $0.word != $0.word.lowercased() }.isEmpty)
    }
}
