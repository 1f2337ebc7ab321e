import TestSupport
import Testing

@testable import TimerdCommand

struct ListCommandTests {
    private let server: WholeServer

    /// Makes timers of every part of a list.
    init() throws {
        server = try WholeServer()
        for words in [
            "create idle --after 1h --manual", "create late --every 2h --label a=b",
            "create soon --after 1h --label a=b",
            "create hung --watchdog 1ms", "create held --cron @daily", "suspend held",
        ] { _ = try run(words).printed() }
        server.time.pass(milliseconds: 10)
        try eventually("the watchdog alarms") { try run("get hung").output.contains("stalled") }
    }

    private func run(_ line: String) throws -> CommandRun {
        try server.run(line.split(separator: " ").map(String.init))
    }

    /// The ids in the first column, without the title.
    private func ids(_ text: String) -> [String] {
        text.split(separator: "\n").map { String($0.prefix { $0 != " " }) }.filter { $0 != "ID" }
    }

    @Test func `what alarms comes first, then what fires next, then the rest`() throws {
        let listed = ids(try run("list").printed())
        #expect(listed.prefix(3) == ["hung", "soon", "late"])
        #expect(Set(listed.dropFirst(3)) == ["idle", "held"])
        #expect(ids(try run("list --all").printed()) == listed)
    }

    @Test func `pages go on through every part`() throws {
        let whole = ids(try run("list").printed())
        var found: [String] = []
        var more = ""
        repeat {
            let page = try run("list --limit 1 \(more)")
            try #require(page.code == 0, "\(page.errors)")
            found += ids(page.output)
            // A page may be empty, which is reported too.
            let line = page.errors.split(separator: "\n").first { $0.hasPrefix("more: ") }
            more = String(line?.dropFirst("more: ".count) ?? "")
        } while !more.isEmpty && found.count < 10
        #expect(found == whole)
    }

    @Test(arguments: [
        ("--state running", "hung soon late"), ("--state suspended", "held"),
        ("--state idle,running", "hung soon late idle"),
        ("--health stalled", "hung"), ("--kind repeating", "late"), ("--kind watchdog,oneShot", "hung soon idle"),
        ("--label a=b", "soon late"), ("--id-prefix h", "hung held"), ("--sort nextFireAt", "soon late"),
    ])
    func `a list has what is asked for`(flags: String, shown: String) throws {
        #expect(ids(try run("list \(flags)").printed()).joined(separator: " ") == shown)
    }

    @Test func `health ok leaves out what alarms`() throws {
        _ = try run("create fine --watchdog 1h").printed()
        #expect(ids(try run("list --health ok").printed()) == ["fine"])
    }

    @Test func `an unknown state is refused by the server`() throws {
        #expect(try run("list --state runing").refusal(1).contains("state"))
    }

    @Test func `no timers is said on standard error`() throws {
        let none = try run("list --label c=d")
        #expect(none.code == 0 && none.output == "")
        #expect(none.errors == "no timers\n")
    }

    @Test func `JSON is what the server says`() throws {
        let page = try #require(JSONObject(Array(try run("list --json").printed().utf8)))
        let listed = page.objects("timers").compactMap { $0["id"] }
        #expect(Set(listed) == ["idle", "late", "soon", "hung", "held"])
        #expect(page["next"] == nil)
        let first = try #require(JSONObject(Array(try run("list --json --limit 2").printed().utf8)))
        #expect(first.objects("timers").count == 2)
        let cursor = try #require(first["next"])
        let rest = try #require(JSONObject(Array(try run("list --json --cursor \(cursor)").printed().utf8)))
        #expect(rest.objects("timers").count == 3)
    }

    @Test func `what is no terminal gets no colours and whole cells`() throws {
        let label = String(repeating: "x", count: 200)
        _ = try run("create wide --after 50h30m --label l=\(label)").printed()
        let row = try run("list --id-prefix wide").printed()
        #expect(row.contains(label) && !row.contains("\u{1b}"))
        #expect(row.contains(" 2d2h "))
    }

    @Test(arguments: ["\u{202e}", "\u{9b}"])
    func `what could steer the terminal is shown as a space, but not in JSON`(control: String) throws {
        let words = ["create", "odd", "--after", "1h", "--label", "team=a\(control)b", "--payload", "\"a\(control)b\""]
        _ = try server.run(words).printed()
        for line in ["get odd", "list --id-prefix odd", "events --timer odd"] {
            let shown = try run(line).printed()
            #expect(shown.contains("a b") && !shown.contains(control))
        }
        #expect(try run("get odd --json").printed().contains(control))
    }
}
