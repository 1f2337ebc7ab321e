import Testing
import TimerCore
import WireJSON

@testable import TimerAPI

/// Knows UTC and one more zone.
private struct TwoZones: ZoneSource {
    func zone(named name: [UInt8]) -> TimeZoneTable? {
        name == Array("UTC".utf8) || name == Array("Europe/Berlin".utf8) ? .utc : nil
    }
}

/// Which fields of a create go together, and which member a refusal points to.
struct TimerBodyTests {
    private func read(_ text: String, patchedWith patch: String? = nil) throws -> TimerRules {
        var document = JSONDocument()
        try document.parse(Array(text.utf8))
        var change: JSONDocument?
        if let patch {
            var document = JSONDocument()
            try document.parse(Array(patch.utf8))
            change = document
        }
        return try TimerBody(document, zones: TwoZones(), patch: change).rules
    }

    private func refusal(_ text: String, patchedWith patch: String? = nil) -> Problem? {
        do {
            _ = try read(text, patchedWith: patch)
            return nil
        } catch {
            return error as? Problem
        }
    }

    @Test(
        arguments: [
            (#"{"after":"1s"}"#, .oneShot, .continuous), (#"{"at":"2030-01-01T00:00:00Z"}"#, .oneShot, .wall),
            (#"{"every":"1s","after":"0s"}"#, .repeating, .continuous),
            (#"{"every":"1s","at":"2030-01-01T00:00:00Z"}"#, .repeating, .wall),
            (#"{"cron":"@daily"}"#, .cron, .wall), (#"{"watchdog":"1s"}"#, .watchdog, .suspending),
            (#"{"after":null,"cron":"@daily","watchdog":null}"#, .cron, .wall),
            (#"{"every":"1s","clock":"suspending"}"#, .repeating, .suspending),
            (#"{"watchdog":"1s","clock":"wall"}"#, .watchdog, .wall),
            (
                #"{"watchdog":"1h","cron":"@daily","timeZone":"Europe/Berlin","from":"2030-01-01T00:00:00Z","misses":2}"#,
                .watchdog, .suspending
            ),
            (#"{"watchdog":"1h","cron":"@daily","clock":"suspending","repeatAlarm":true}"#, .watchdog, .suspending),
            (#"{"every":"7d","at":"2030-01-01T16:00:00Z","timeZone":"Europe/Berlin"}"#, .repeating, .wall),
        ] as [(String, TimerKind, TimerClock)])
    func `each schedule has its kind and its clock`(text: String, kind: TimerKind, clock: TimerClock) throws {
        let rules = try read(text)
        #expect(rules.schedule.kind == kind)
        #expect(rules.clock == clock)
    }

    @Test(arguments: [
        ("{}", ""), (#"{"after":"1s","at":"2030-01-01T00:00:00Z"}"#, "/at"),
        (#"{"cron":"@daily","every":"1s"}"#, "/cron"), (#"{"cron":"@daily","watchdog":"1s","after":"1s"}"#, "/cron"),
        (#"{"watchdog":"1s","after":"1s"}"#, "/watchdog"), (#"{"watchdog":"0s"}"#, "/watchdog"),
        (#"{"cron":"@daily","timeZone":"Europe/Pariss"}"#, "/timeZone"),
        (#"{"cron":"0 12 ? * 2-6"}"#, "/cron"),
        (#"{"after":"1s","timeZone":"Europe/Berlin"}"#, "/timeZone"),
        (#"{"every":"1d","timeZone":"Europe/Berlin"}"#, "/timeZone"),
        (#"{"every":"1d","after":"1d","timeZone":"Europe/Berlin"}"#, "/timeZone"),
        (#"{"at":"2030-01-01T00:00:00Z","timeZone":"Europe/Berlin"}"#, "/timeZone"),
        (#"{"every":"1d","at":"2030-01-01T00:00:00Z","timeZone":"Europe/Pariss"}"#, "/timeZone"),
        (#"{"every":"36h","at":"2030-01-01T00:00:00Z","timeZone":"Europe/Berlin"}"#, "/every"),
        (#"{"watchdog":"1s","timeZone":"Europe/Berlin"}"#, "/timeZone"),
        (#"{"watchdog":"1h","cron":"@daily","clock":"wall"}"#, "/clock"),
        (#"{"watchdog":"1h","cron":"@daily","onResume":"skip"}"#, "/onResume"),
        (#"{"watchdog":"1h","cron":"@dail"}"#, "/cron"),
        (#"{"every":"1s","from":"2030-01-01T00:00:00Z"}"#, "/from"),
        (#"{"cron":"@daily","clock":"continuous"}"#, "/clock"),
        (#"{"cron":"@daily","mode":"fixedDelay"}"#, "/mode"), (#"{"watchdog":"1s","mode":"fixedDelay"}"#, "/mode"),
        (#"{"after":"1s","misses":2}"#, "/misses"), (#"{"after":"1s","repeatAlarm":true}"#, "/repeatAlarm"),
        (#"{"watchdog":"1s","onResume":"skip"}"#, "/onResume"), (#"{"watchdog":"1s","misfire":"all"}"#, "/misfire"),
        (#"{"watchdog":"1s","misfireGrace":"0s"}"#, "/misfireGrace"),
        (#"{"watchdog":"1d","misses":36526}"#, "/misses"),
        (#"{"watchdog":"1d","misses":9223372036854775807}"#, "/misses"),
    ])
    func `what does not go together is pointed at`(text: String, pointer: String?) throws {
        let problem = try #require(refusal(text))
        #expect(problem.kind == .invalidSchedule)
        #expect(problem.pointer == pointer)
    }

    @Test(arguments: [
        #"{"after":"1s","mode":"fixedRate","timeZone":"UTC","from":null,"misses":1,"repeatAlarm":false}"#,
        #"{"watchdog":"1s","onResume":"remaining","misfire":"once","misfireGrace":null,"mode":null}"#,
        #"{"cron":"@daily","clock":"wall"}"#, #"{"watchdog":"1d","misses":36525}"#,
        #"{"every":"1h","at":"2030-01-01T00:00:00Z","timeZone":"UTC"}"#,
    ])
    func `a field of another kind may be its default`(text: String) {
        #expect(refusal(text) == nil)
    }

    @Test func `every policy is read`() throws {
        let rules = try read(
            #"{"every":"1m","leeway":"2s","jitter":"3s","misfire":"skip","misfireGrace":"4s","start":"subscriber"}"#)
        #expect(rules.leeway == 2000)
        #expect(rules.jitter == 3000)
        #expect(rules.misfire == .skip)
        #expect(rules.misfireGrace == 4000)
        #expect(rules.start == .subscriber)
        let watchdog = try read(#"{"watchdog":"1m","misses":3,"repeatAlarm":true}"#)
        #expect(watchdog.misses == 3)
        #expect(watchdog.repeatAlarm)
    }

    @Test func `an expression that was accepted before stays, unless the patch names it`() throws {
        let merged = #"{"cron":"0 12 ? * 2-6","leeway":"1s"}"#
        #expect(try read(merged, patchedWith: #"{"leeway":"1s"}"#).leeway == 1000)
        #expect(refusal(merged, patchedWith: #"{"cron":"0 12 ? * 2-6"}"#)?.pointer == "/cron")
    }

    @Test func `the zone of a cron expression stays with a grid that keeps its local time`() throws {
        let at = #""at":"2030-01-01T00:00:00Z""#
        let merged = #"{"timeZone":"Europe/Berlin","every":"1d",\#(at)}"#
        #expect(try read(merged, patchedWith: #"{"cron":null,"every":"1d",\#(at)}"#).schedule.keepsLocalTime)
        let hourly = #"{"timeZone":"Europe/Berlin","every":"1h",\#(at)}"#
        let kept = try #require(refusal(hourly, patchedWith: #"{"cron":null,"every":"1h",\#(at)}"#))
        #expect(kept.pointer == "/every")
        #expect(kept.detail.contains(#"Europe/Berlin; `"timeZone": null` removes it"#))
        #expect(try !read(#"{"every":"1h",\#(at)}"#, patchedWith: #"{"timeZone":null}"#).schedule.keepsLocalTime)
        let zoned = try #require(refusal(hourly, patchedWith: #"{"timeZone":"Europe/Berlin"}"#))
        #expect(zoned.pointer == "/timeZone")
        #expect(!zoned.detail.contains("null"))
    }

    @Test func `what the old kind used goes with it, unless the patch names it`() throws {
        let merged = #"{"after":"5s","misses":3,"repeatAlarm":true,"clock":"continuous"}"#
        let rules = try read(merged, patchedWith: #"{"watchdog":null,"after":"5s"}"#)
        #expect(rules == TimerRules(.after(5000)))
        let named = refusal(merged, patchedWith: #"{"watchdog":null,"after":"5s","repeatAlarm":true}"#)
        #expect(named?.pointer == "/repeatAlarm")
        #expect(refusal(merged)?.pointer == "/misses")
    }
}
