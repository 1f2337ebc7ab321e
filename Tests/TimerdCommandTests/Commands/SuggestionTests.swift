import ArgumentParser
import Testing
import TimerCore

@testable import TimerdCommand

struct SuggestionTests {
    private static let words = ["create", "list", "cancel", "suspend", "resume", "delete", "get", "log", "deliveries"]

    @Test(arguments: [
        ("creat", "create"), ("lsit", "list"), ("canel", "cancel"), ("LIST", "list"), ("lst", "list"),
        ("suspnd", "suspend"),
        ("deliverys", "deliveries"), ("gte", "get"), ("rm", "delete"), ("RM", "delete"), ("pause", "suspend"),
    ])
    func `a word that is near, or that others use, is known`(word: String, meant: String) {
        #expect(Suggestion.nearest(to: word, among: Self.words) == meant)
        #expect(Suggestion.phrase(for: word, among: Self.words) == ": did you mean \(meant)?")
    }

    @Test(arguments: ["xyzzy", "", "xy", "abc", String(repeating: "x", count: 10_000)])
    func `a word that is near no other gets no guess`(word: String) {
        #expect(Suggestion.nearest(to: word, among: Self.words) == nil)
        #expect(Suggestion.phrase(for: word, among: Self.words) == "")
    }

    @Test func `a command in capitals means that command`() {
        let words = Timerd.configuration.subcommands.map { $0._commandName }
        #expect(words.contains("import"))
        for word in words { #expect(Suggestion.nearest(to: word.uppercased(), among: words) == word) }
    }

    @Test func `only a word that may be said is suggested`() {
        #expect(Suggestion.nearest(to: "rm", among: ["suspend", "resume"]) == nil)
        for (word, command) in MistakenWord.all {
            #expect(Suggestion.nearest(to: word, among: Bulk.actions) == "\(command.name)")
        }
    }
}
