import Foundation
import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog
import TimerService

@testable import TimerdCommand

/// `timerd log …` and `timerd backup`, on the data directory of a server that has stopped.
struct LogCommandsTests {
    private static let secret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"
    private static let webhook =
        #"{"after":"1h","webhook":{"url":"http://127.0.0.1:9/","secret":"\#(secret)","#
        + #""headers":{"X-Key":"hidden"},"secretHeaders":["X-Key"]}}"#

    private let directory: TemporaryDirectory

    /// Makes timers in each state, a deleted one, and a webhook.
    init() throws {
        directory = try TemporaryDirectory()
        let server = try WholeServer(SQLiteLogStore(directory: directory.path))
        defer { server.stop() }
        for line in [
            "create a --after 1h --label x=y", "create b --after 1h", "suspend b", "create c --after 1h", "cancel c",
            "create d --after 1h", "delete d", "create e --watchdog 1h", "kick e", "create f --after 1h --manual",
        ] { _ = try server.run(line.split(separator: " ").map(String.init)).printed() }
        _ = try server.run("create", "hook", "--body", Self.webhook).printed()
    }

    /// The records of the log, as `timerd log dump` shows them.
    private func dump(_ flags: String...) throws -> [JSONObject] {
        let lines = CommandRun(["log", "dump", "--data", directory.path] + flags).printed().split(separator: "\n")
        return try lines.map { try #require(JSONObject(Array($0.utf8))) }
    }

    @Test func `verify counts what the log holds`() {
        let lines = CommandRun("log", "verify", "--data", directory.path).printed().split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first?.contains(" records in ") == true)
        #expect(lines.last == "6 timers: 1 idle, 3 running, 1 suspended, 1 cancelled, 0 completed")
    }

    @Test func `dump has a line for each record, from a position on`() throws {
        let records = try dump()
        let types = records.filter { $0["timer"] == "d" && $0["kind"] == "event" }.compactMap { $0["type"] }
        #expect(types == ["created", "activated", "deleted"])
        #expect(Set(records.compactMap { $0["kind"] }).isSuperset(of: ["event"]))
        let third = try #require(records[2]["position"])
        #expect(try dump("--from", third).count == records.count - 2)
        #expect(records.contains { $0["timer"] == "a" && $0["labels"] == #"{"x":"y"}"# })
    }

    @Test func `a line says what happened, and how the timer is since then`() throws {
        let server = try WholeServer(SQLiteLogStore(directory: directory.path))
        _ = try server.run("create", "once", "--after", "1s").printed()
        server.time.pass(milliseconds: 1000)
        try eventually("the timer has fired") {
            try server.run("get", "once", "--json").printed().contains("completed")
        }
        for words in [["create", "dog", "--watchdog", "1h"], ["kick", "dog"], ["drain"]] {
            _ = try server.run(words).printed()
        }
        server.stop()
        let progress = ["state", "version", "due", "fireCount", "missedCount"]
        let records = try dump()
        let fired = try #require(records.first { $0["timer"] == "once" && $0["type"] == "fired" })
        #expect(
            Set(fired.names)
                == Set(
                    [
                        "position", "kind", "at", "type", "reason", "scheduledAt", "latenessUs", "missed", "previous",
                        "timer", "lastFiredAt", "dueAt", "labels", "definition",
                    ] + progress))
        #expect(fired["reason"] == "due" && fired["scheduledAt"] == fired["dueAt"] && fired["missed"] == "0")
        let created = try #require(records.first { $0["timer"] == "once" && $0["type"] == "created" })
        #expect(fired["version"].flatMap { Int($0) } == created["version"].flatMap { Int($0) }.map { $0 + 1 })
        #expect(fired["state"] == "running" && fired["fireCount"] == "1")
        #expect(fired["lastFiredAt"] == fired["at"])
        let kick = try #require(records.last { $0["kind"] == "kick" })
        #expect(
            Set(kick.names)
                == Set(
                    ["position", "kind", "at", "hash", "base", "health", "kickCount", "lastKickedAt"] + progress))
        #expect(kick["health"] == "ok" && kick["kickCount"] == "1" && kick["lastKickedAt"] == kick["at"])
        let drain = try #require(records.last { $0["kind"] == "drain" })
        #expect(drain.names == ["position", "kind", "at", "drained"] && drain["drained"] == "true")
    }

    @Test func `secrets are shown only where that is asked for`() throws {
        let masked = CommandRun("log", "dump", "--data", directory.path).printed()
        #expect(masked.contains("http://127.0.0.1:9/"))
        #expect(!masked.contains(Self.secret) && !masked.contains("hidden"))
        #expect(CommandRun("log", "dump", "--data", directory.path, "--secrets").printed().contains(Self.secret))
    }

    @Test func `the record of a key says who made it, and has neither secret nor hash`() throws {
        let server = try WholeServer(SQLiteLogStore(directory: directory.path))
        let (first, second) = (KeySecret.draw(), KeySecret.draw())
        let id = first.id
        let log = try #require(server.service.log.value)
        let draft = KeyDraft(name: "deploy", scopes: [.read, .kick], idPrefix: Array("c.".utf8))
        let isDone = log.engine.turn { turn in
            let key = try? turn.createKey(draft, id: id, first.digest, by: .token)
            let rotated = try? turn.rotateKey(id, second.digest, overlap: 60_000, by: .key(id))
            return key != nil && rotated != nil && (try? turn.revokeKey(id, by: .token)) != nil
        }
        #expect(isDone)
        server.stop()
        let records = try dump().filter { $0["kind"] == "key" }
        #expect(records.map { $0["key"] } == [id.text, id.text, id.text])
        #expect(records.map { $0["by"] } == ["token", id.text, "token"])
        #expect(records.map { $0["revoked"] } == [nil, nil, "true"])
        #expect(records.map { $0["olderSecretUntil"] != nil } == [false, true, false])
        #expect(records[1].strings("scopes") == ["read", "kick"])
        #expect(records[1]["name"] == "deploy" && records[1]["idPrefix"] == "c.")
        let shown = CommandRun("log", "dump", "--data", directory.path, "--secrets").printed()
        for secret in [first, second] { #expect(!shown.contains(secret.text.suffix(48))) }
    }

    @Test func `a good log is not repaired, and a cut is not made unasked`() {
        let path = directory.path
        let repair = ["log", "repair", "--data", path]
        #expect(CommandRun(repair).printed() == "\(path): the log is good, nothing to repair\n")
        #expect(CommandRun(repair + ["--after=-1"]).refusal(64).contains("a position is not negative"))
        #expect(
            CommandRun(repair + ["--after", "1"]).refusal(64).contains("would delete every record after position 1"))
    }

    @Test func `a backup is a log of its own, and is not written over`() throws {
        let copy = directory.file("copy")
        let backup = ["backup", "--data", directory.path, "--to", copy]
        #expect(CommandRun(backup).printed().hasPrefix("\(copy): "))
        #expect(CommandRun("log", "verify", "--data", copy).printed().contains("6 timers: "))
        #expect(CommandRun(backup).refusal(78).contains(copy))
    }

    @Test(arguments: [["log", "verify"], ["log", "dump"], ["log", "repair"], ["backup", "--to", "/nowhere/copy"]])
    func `a directory without a log is refused and not made`(words: [String]) {
        let path = directory.file("nothing")
        #expect(CommandRun(words + ["--data", path]).refusal(78).contains(path))
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
