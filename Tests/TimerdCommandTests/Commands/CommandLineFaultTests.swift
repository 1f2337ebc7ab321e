import ArgumentParser
import Testing

@testable import TimerdCommand

/// The refusals of command lines that can't be read.
struct CommandLineFaultTests {
    private func refusal(_ line: String) -> String {
        CommandRun(line.split(separator: " ").map(String.init)).refusal(64)
    }

    @Test(arguments: [
        ("creat", "create"), ("lsit", "list"), ("canel tea", "cancel"), ("pause tea", "suspend"), ("rm tea", "delete"),
        ("log verfy", "verify"), ("bulk suspnd --label a=b", "suspend"), ("deliverys", "deliveries"),
        ("stop tea", "cancel"), ("reset tea", "reschedule"), ("bulk stop --label a=b", "cancel"),
        ("help creat", "create"), ("help log verfy", "verify"), ("creat --help", "create"),
    ])
    func `a misspelt word is told with the one meant`(line: String, meant: String) {
        #expect(refusal(line).hasSuffix(": did you mean \(meant)?"))
    }

    @Test func `a misspelt flag is told with the one meant`() {
        let told = refusal("list --stat running")
        #expect(told.contains("Did you mean '--state'?"))
        #expect(told.hasSuffix("; `timerd list --help` tells more"))
    }

    @Test(arguments: [
        ("xyzzy", "`timerd xyzzy`; `timerd --help` lists them"),
        ("help xyzzy", "`timerd xyzzy`; `timerd --help` lists them"),
        ("log xyzzy", "`timerd log xyzzy`; `timerd log --help` lists them"),
    ])
    func `a word that is near no other gets no guess`(line: String, end: String) {
        #expect(refusal(line) == "timerd: there is no command \(end)")
    }

    @Test(arguments: [
        ("log dump --form 3", "log dump"), ("get", "get"), ("list extra", "list"), ("create --max-fires x", "create"),
        ("deliveries --nosuch", "deliveries"), ("listen --port 70000", "listen"),
    ])
    func `a mistake names the help of its command`(line: String, path: String) {
        #expect(refusal(line).hasSuffix("; `timerd \(path) --help` tells more"))
    }

    @Test(arguments: [
        "help", "--help", "help log", "help log verify", "log verify --help", "help deliveries", "deliveries --help",
        "",
    ])
    func `help is printed`(line: String) {
        let run = CommandRun(line.split(separator: " ").map(String.init))
        #expect(run.printed().contains("USAGE: timerd"))
    }

    @Test func `the help names every command`() {
        let help = CommandRun("--help").printed()
        for command in Timerd.configuration.subcommands { #expect(help.contains("\n  \(command._commandName) ")) }
        #expect(Timerd.configuration.subcommands.count > 30)
    }

    @Test func `no example of the help is wrapped, as a pasted half would be another command`() {
        func check(_ command: any ParsableCommand.Type, _ path: [String]) {
            let help = CommandRun(path + ["--help"]).printed()
            for line in command.configuration.discussion.split(separator: "\n") where line.hasPrefix("  ") {
                #expect(help.contains("\n\(line)\n"), "\(path): \(line)")
            }
            for below in command.configuration.subcommands { check(below, path + [below._commandName]) }
        }
        check(Timerd.self, [])
    }

    @Test(arguments: ["version", "--version"])
    func `the version is one line`(word: String) {
        #expect(CommandRun(word).printed() == "timerd \(Release.version)\n")
    }

    @Test(arguments: [["health"], ["get", "tea"], ["list"], ["watch"], ["stats"], ["events"], ["next", "tea"]])
    func `a server that is not there is one line that says what to look at`(words: [String]) {
        for server in ["http://127.0.0.1:1", "unix:/nowhere/no.sock"] {
            let told = CommandRun(words + ["--server", server]).refusal(1)
            #expect(told.contains(server))
            #expect(told.hasSuffix("; is `timerd serve` running? --server or TIMERD_SERVER says where"))
        }
    }

    @Test(arguments: ["ftp://x", "127.0.0.1:8080", "unix:", ""])
    func `an address that is none is refused by the name of its setting`(server: String) {
        #expect(CommandRun("list", "--server", server).refusal(64).hasPrefix("timerd: --server"))
        guard !server.isEmpty else { return }
        #expect(CommandRun("list", variables: ["TIMERD_SERVER": server]).refusal(64).hasPrefix("timerd: TIMERD_SERVER"))
    }

    @Test(arguments: [
        (["--manual", "--start", "now", "--after", "1h"], "--manual is --start manual"),
        (["--body", "{}", "--cron", "@daily"], "--body goes with nothing but the id"),
        (["--body", "{}", "--label", "a=b"], "--body goes"),
        (["--leeway", "1s"], "create needs one of"), (["a", "--id", "b", "--after", "4m"], "the id is given twice"),
        (["--after", "1h", "--label", "x"], "--label x: expected key=value"), (["--body", "{"], "--body is not JSON"),
        (["--after", "1h", "--payload", "{]"], "--payload is not JSON"),
    ])
    func `options of create that make no sense together are refused`(options: [String], words: String) {
        #expect(CommandRun(["create"] + options).refusal(64).contains(words))
    }

    @Test(arguments: [
        ("bulk cancel", "--label, --state or both"), ("bulk cancle --label a=b", "did you mean cancel?"),
        ("bulk reschedule --label a=b", "one of --after and --at"),
        ("bulk reschedule --label a=b --after 1h --at 2030-01-01T00:00:00Z", "one of --after and --at"),
        ("bulk cancel --label x", "--label x: expected key=value"), ("watch tea --timer tea", "the id is given twice"),
        ("list --label x", "--label x: expected key=value"), ("deliveries --label x", "--label x: expected key=value"),
        ("events --label x", "--label x: expected key=value"),
        ("watch --limit 0", "--limit 0: expected 1 or more"), ("redrive", "ids of deliveries"),
        ("redrive 7 --timer tea", "ids of deliveries"), ("redrive 7 --dry-run", "--dry-run goes with"),
        ("list --limit 0", "expected 1 to 1000"), ("list --limit x", "expected 1 to 1000"),
        ("list --watch", "--watch needs a terminal"), ("list --watch --json", "it goes with none of"),
        ("health --server http://127.0.0.1:1 --data x", "both say which server"),
        ("completion tcsh", "no script for the shell `tcsh`"), ("listen --secret nonsense", "--secret: "),
        ("listen --fail-rate 1.1", "--fail-rate 1.1: expected 0 to 1"),
        ("log verify --store memory", "it keeps no log"),
    ])
    func `a command that makes no sense is refused before a server is asked`(line: String, words: String) {
        #expect(refusal(line).contains(words))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `there is a script for each shell`(shell: String) {
        #expect(CommandRun("completion", shell).printed().contains("timerd"))
    }
}
