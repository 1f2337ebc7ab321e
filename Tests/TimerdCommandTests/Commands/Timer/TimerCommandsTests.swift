import TestSupport
import Testing
import TimerService

@testable import TimerdCommand

/// The commands about single timers, and their reports of the server's refusals.
struct TimerCommandsTests {
    private let server: WholeServer

    init() throws {
        var engine = EngineConfiguration()
        engine.zones = HostZones.source()
        server = try WholeServer(engine: engine)
    }

    private func run(_ line: String) throws -> CommandRun {
        try server.run(line.split(separator: " ").map(String.init))
    }

    /// The output of a command with --json.
    private func answer(_ words: String...) throws -> JSONObject {
        try #require(JSONObject(Array(try server.run(words + ["--json"]).printed().utf8)))
    }

    @Test func `a timer's life`() throws {
        let created = try answer("create", "--id", "tea", "--after", "10m")
        #expect([created["id"], created["state"], created["after"]] == ["tea", "running", "10m"])
        #expect(try answer("suspend", "tea")["state"] == "suspended")
        #expect(try answer("resume", "tea")["state"] == "running")
        #expect(try answer("get", "tea")["state"] == "running")
        #expect(try answer("reschedule", "tea", "--after", "1h")["remaining"] == "1h")
        #expect(try answer("fire", "tea")["state"] == "completed")
        #expect(try run("delete tea").printed() == "tea: deleted\n")
        #expect(try run("get tea").code == 1)
    }

    @Test func `activate and cancel`() throws {
        #expect(try run("create later --after 1h --manual").printed().hasPrefix("later: idle"))
        #expect(try answer("activate", "later")["state"] == "running")
        #expect(try run("cancel later").printed().hasPrefix("later: cancelled"))
    }

    @Test func `create takes the id like every other verb, labels and a payload`() throws {
        #expect(try run("create tea --after 4m").printed().hasPrefix("tea: running, next fire "))
        let timer = try answer(
            "create", "beat", "--every", "1h", "--label", "a=b", "--label", "c=d=e", "--payload", "{\"x\": 1}")
        #expect([timer["every"], timer["labels"], timer["payload"]] == ["1h", #"{"a":"b","c":"d=e"}"#, #"{"x":1}"#])
    }

    @Test func `create takes every field`() throws {
        let fields = [
            "cron": "0 9 * * MON-FRI", "timeZone": "Europe/Berlin", "from": "2035-01-01T00:00:00.000Z", "leeway": "1s",
            "jitter": "2s", "onResume": "skip", "misfire": "all", "misfireGrace": "1h", "maxFires": "3",
            "until": "2036-01-01T00:00:00.000Z", "retain": "2d", "start": "subscriber", "clock": "wall",
        ]
        var words = ["create", "full", "--restartable", "--json"]
        for (field, value) in fields {
            words += ["--" + field.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined(), value]
        }
        let timer = try #require(JSONObject(Array(try server.run(words).printed().utf8)))
        let members = timer.members.filter { fields[$0.name] != nil }
        #expect(Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.text) }) == fields)
        #expect(timer["restartable"] == "true")
    }

    @Test func `create takes a whole body, with the id beside it or in it`() throws {
        #expect(try answer("create", "a", "--body", #"{"after": "1h"}"#)["id"] == "a")
        #expect(try answer("create", "--body", #"{"id": "b", "after": "1h"}"#)["id"] == "b")
        for body in [#"{"id": "c", "after": "1h"}"#, "{}", "[]"] {
            #expect(try server.run("create", "d", "--body", body).refusal(1).contains("400"))
        }
    }

    @Test func `a watchdog is kicked, and told where it is stalled`() throws {
        let timer = try answer("create", "w", "--watchdog", "20ms", "--misses", "2", "--repeat-alarm")
        #expect([timer["watchdog"], timer["misses"], timer["repeatAlarm"]] == ["20ms", "2", "true"])
        #expect(try answer("kick", "w")["kickCount"] == "1")
        server.time.pass(milliseconds: 50)
        try eventually("the watchdog alarms") { try run("get w").output.contains("stalled") }
        #expect(try !run("kick w").printed().contains("stalled"))
        let events = try run("events --timer w").printed()
        #expect(events.contains("  recovered ") && events.contains("stalledFor="))
    }

    @Test(arguments: ["get", "suspend", "delete", "next"])
    func `404 names the id`(command: String) throws {
        let told = try run("\(command) none").refusal(1)
        #expect(told.contains("404 not-found") && told.contains("none"))
    }

    @Test func `409 names what is legal, or the id that is taken`() throws {
        _ = try run("create later --after 1h --manual").printed()
        #expect(try run("suspend later").refusal(1).hasSuffix("(legal now: activate)"))
        let told = try run("create later --after 1h").refusal(1)
        #expect(told.contains("409 timer-exists") && told.contains("later"))
    }

    @Test func `several ids are all tried`() throws {
        for id in ["a", "c"] { _ = try run("create \(id) --after 1h").printed() }
        let done = try run("suspend a b c d")
        let said = done.errors.split(separator: "\n")
        #expect(done.code == 1 && said.count == 3)
        #expect(done.output.split(separator: "\n").map { $0.prefix(2) } == ["a:", "c:"])
        #expect(
            said.first?.hasPrefix("timerd: b: ") == true && said.dropFirst().first?.hasPrefix("timerd: d: ") == true)
        #expect(said.last == "timerd: 2 of 4 failed")
        for command in ["resume a c", "get a c", "reschedule a c --after 2h"] { _ = try run(command).printed() }
        #expect(try run("delete a c").printed() == "a: deleted\nc: deleted\n")
    }

    @Test func `patch changes what it names, if the version is the one meant`() throws {
        let timer = try answer("create", "t", "--after", "1h", "--label", "a=b")
        let patched = try answer("patch", "t", "--body", #"{"labels": {"a": null, "c": "d"}}"#)
        #expect(patched["labels"] == #"{"c":"d"}"#)
        #expect(try answer("patch", "t", "--body", #"{"after": null, "every": "2h"}"#)["every"] == "2h")
        let old = try #require(timer["version"])
        #expect(try server.run("patch", "t", "--body", "{}", "--if-match", "\"v\(old)\"").refusal(1).contains("412"))
        let version = try #require(try answer("get", "t")["version"])
        let last = try answer("patch", "t", "--body", #"{"payload": 1}"#, "--if-match", "\"v\(version)\"")
        #expect(last["payload"] == "1")
        #expect(try server.run("patch", "t", "--body", #"{"start": "manual"}"#).refusal(1).contains("400"))
    }

    @Test func `next shows the planned fires`() throws {
        _ = try server.run("create", "t", "--cron", "0 9 * * *").printed()
        let lines = try run("next t --count 2").printed().split(separator: "\n")
        #expect(lines.count == 2)
        // The server's clock is the test's, and the client's is the machine's.
        for line in lines { #expect(line.contains("T09:00:00.000Z  ") && line.hasSuffix(" ago")) }
        #expect(try answer("next", "t").strings("fires").count == 10)
        _ = try run("suspend t").printed()
        let none = try run("next t")
        #expect(none.code == 0 && none.output == "")
        #expect(none.errors == "t: no fire is planned\n")
        #expect(try run("next t --count 0").refusal(1).contains("count"))
    }

    @Test func `stats are those of the server`() throws {
        _ = try run("create t --after 1h").printed()
        let text = try run("stats").printed()
        let version = try #require(try answer("stats")["version"])
        #expect(text.hasPrefix("server       timerd \(version), up "))
        #expect(text.contains("\ntimers       1: 1 running\n") && text.contains("\ndeliveries   0 pending, 0 dead\n"))
    }
}
