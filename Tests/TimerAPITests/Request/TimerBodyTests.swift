import Testing
import TimerCore
import WireJSON

@testable import TimerAPI

/// The fields of a create that go together, and the member that a refusal points to.
struct TimerBodyTests {
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
            (#"{"rrule":"FREQ=DAILY","rdates":[],"exdates":null}"#, .recurrence, .wall),
            (
                #"{"rrule":"rrule:freq=daily;byhour=9","from":"2030-01-01T00:00:00Z","timeZone":"Europe/Berlin"}"#,
                .recurrence, .wall
            ),
            (#"{"watchdog":"1h","rrule":"FREQ=DAILY","clock":"suspending","misses":2}"#, .watchdog, .suspending),
            (#"{"after":"1s","rdates":[],"exdates":[]}"#, .oneShot, .continuous),
            (#"{"every":"7d","at":"2030-01-01T16:00:00Z","timeZone":"Europe/Berlin"}"#, .repeating, .wall),
        ] as [(String, TimerKind, TimerClock)])
    func `each schedule has its kind and its clock`(text: String, kind: TimerKind, clock: TimerClock) throws {
        let rules = try BodyReading.rules(text)
        #expect(rules.schedule.kind == kind)
        #expect(rules.clock == clock)
    }

    @Test(
        arguments: [
            ("{}", ""), (#"{"after":"1s","at":"2030-01-01T00:00:00Z"}"#, "/at"),
            (#"{"cron":"@daily","every":"1s"}"#, "/cron"),
            (#"{"cron":"@daily","watchdog":"1s","after":"1s"}"#, "/cron"),
            (#"{"watchdog":"1s","after":"1s"}"#, "/watchdog"), (#"{"watchdog":"0s"}"#, "/watchdog"),
            (#"{"after":null}"#, ""), (#"{"maxFires":1}"#, ""), (#"{"cron":null,"watchdog":null}"#, ""),
            (#"{"after":"1s","at":"2030-01-01T00:00:00Z","every":"1s"}"#, "/at"),
            (#"{"cron":"@daily","after":"1s"}"#, "/cron"),
            (#"{"cron":"@daily","at":"2030-01-01T00:00:00Z"}"#, "/cron"),
            (#"{"watchdog":"1s","every":"1s"}"#, "/watchdog"),
            (#"{"after":"1s","mode":"fixedDelay"}"#, "/mode"),
            (#"{"at":"2030-01-01T00:00:00Z","mode":"fixedDelay"}"#, "/mode"),
            (#"{"at":"2030-01-01T00:00:00Z","clock":"continuous"}"#, "/clock"),
            (#"{"at":"2030-01-01T00:00:00Z","clock":"suspending"}"#, "/clock"),
            (#"{"every":"1s","at":"2030-01-01T00:00:00Z","clock":"continuous"}"#, "/clock"),
            (#"{"cron":"@daily","clock":"suspending"}"#, "/clock"), (#"{"cron":"@daily","misses":2}"#, "/misses"),
            (#"{"cron":"@daily","repeatAlarm":true}"#, "/repeatAlarm"), (#"{"every":"1s","misses":2}"#, "/misses"),
            (#"{"every":"1s","repeatAlarm":true}"#, "/repeatAlarm"),
            (#"{"watchdog":"1s","onResume":"deadline"}"#, "/onResume"),
            (#"{"watchdog":"1s","from":"2030-01-01T00:00:00Z"}"#, "/from"),
            (#"{"watchdog":"1h","cron":"@daily","misfire":"all"}"#, "/misfire"),
            (#"{"watchdog":"1h","cron":"@daily","after":"1h"}"#, "/cron"),
            (#"{"watchdog":"1h","cron":"@daily","timeZone":"Mars/Base"}"#, "/timeZone"),
            (#"{"cron":"@daily","timeZone":""}"#, "/timeZone"),
            (#"{"cron":"@daily","timeZone":"Europe/Berlin\u0000"}"#, "/timeZone"),
            (#"{"cron":"@daily","timeZone":"Europe/Pariss"}"#, "/timeZone"),
            (#"{"cron":"0 12 ? * 2-6"}"#, "/cron"),
            (#"{"rrule":"FREQ=DAILY","cron":"@daily"}"#, "/cron"), (#"{"rrule":"FREQ=DAILY","after":"1s"}"#, "/rrule"),
            (#"{"rrule":"FREQ=HOURLY"}"#, "/rrule"), (#"{"rrule":"FREQ=DAILY","timeZone":"Mars/Base"}"#, "/timeZone"),
            (#"{"rrule":"FREQ=DAILY","clock":"continuous"}"#, "/clock"),
            (#"{"rrule":"FREQ=DAILY","mode":"fixedDelay"}"#, "/mode"),
            (#"{"rrule":"FREQ=DAILY","rdates":["2030-01-01"]}"#, "/rdates/0"),
            (#"{"rrule":"FREQ=DAILY","exdates":["2030-01-01T00:00:00Z",null]}"#, "/exdates/1"),
            (#"{"rrule":"FREQ=DAILY","rdates":"2030-01-01T00:00:00Z"}"#, "/rdates"),
            (#"{"cron":"@daily","rdates":["2030-01-01T00:00:00Z"]}"#, "/rdates"),
            (#"{"after":"1s","exdates":["2030-01-01T00:00:00Z"]}"#, "/exdates"),
            (#"{"watchdog":"1h","rrule":"FREQ=DAILY","misfire":"all"}"#, "/misfire"),
            (#"{"watchdog":"1h","rrule":"FREQ=DAILY","clock":"wall"}"#, "/clock"),
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
        ] as [(String, String?)])
    func `what does not go together is pointed at`(text: String, pointer: String?) throws {
        let problem = try #require(BodyReading.refusal(text))
        #expect(problem.kind == .invalidSchedule)
        #expect(problem.pointer == pointer)
    }

    @Test(arguments: [
        #"{"after":"1s","mode":"fixedRate","timeZone":"UTC","from":null,"misses":1,"repeatAlarm":false}"#,
        #"{"watchdog":"1s","onResume":"remaining","misfire":"once","misfireGrace":null,"mode":null}"#,
        #"{"cron":"@daily","clock":"wall"}"#, #"{"watchdog":"1d","misses":36525}"#,
        #"{"every":"1h","at":"2030-01-01T00:00:00Z","timeZone":"UTC"}"#,
        #"{"at":"2030-01-01T00:00:00Z","clock":"wall"}"#,
        #"{"after":"1s","mode":null,"timeZone":null,"misses":null,"repeatAlarm":null,"from":null}"#,
        #"{"watchdog":"1ms","start":"manual","timeZone":"UTC"}"#, #"{"watchdog":"1h","misses":876600}"#,
    ])
    func `a field of another kind may be its default`(text: String) {
        #expect(BodyReading.refusal(text) == nil)
    }

    @Test func `every policy is read`() throws {
        let rules = try BodyReading.rules(
            #"{"every":"1m","leeway":"2s","jitter":"3s","misfire":"skip","misfireGrace":"4s","start":"subscriber"}"#)
        #expect(rules.leeway == 2000)
        #expect(rules.jitter == 3000)
        #expect(rules.misfire == .skip)
        #expect(rules.misfireGrace == 4000)
        #expect(rules.start == .subscriber)
        let watchdog = try BodyReading.rules(#"{"watchdog":"1m","misses":3,"repeatAlarm":true}"#)
        #expect(watchdog.misses == 3)
        #expect(watchdog.repeatAlarm)
    }

    @Test func `an expression that was accepted before stays, unless the patch names it`() throws {
        let merged = #"{"cron":"0 12 ? * 2-6","leeway":"1s"}"#
        #expect(try BodyReading.rules(merged, patchedWith: #"{"leeway":"1s"}"#).leeway == 1000)
        #expect(BodyReading.refusal(merged, patchedWith: #"{"cron":"0 12 ? * 2-6"}"#)?.pointer == "/cron")
    }

    @Test func `the zone of a cron expression stays with a grid that keeps its local time`() throws {
        let at = #""at":"2030-01-01T00:00:00Z""#
        let merged = #"{"timeZone":"Europe/Berlin","every":"1d",\#(at)}"#
        #expect(
            try BodyReading.rules(merged, patchedWith: #"{"cron":null,"every":"1d",\#(at)}"#).schedule.keepsLocalTime)
        let hourly = #"{"timeZone":"Europe/Berlin","every":"1h",\#(at)}"#
        let kept = try #require(BodyReading.refusal(hourly, patchedWith: #"{"cron":null,"every":"1h",\#(at)}"#))
        #expect(kept.pointer == "/every")
        #expect(kept.detail.contains(#"Europe/Berlin; `"timeZone": null` removes it"#))
        #expect(
            try !BodyReading.rules(#"{"every":"1h",\#(at)}"#, patchedWith: #"{"timeZone":null}"#).schedule
                .keepsLocalTime)
        let zoned = try #require(BodyReading.refusal(hourly, patchedWith: #"{"timeZone":"Europe/Berlin"}"#))
        #expect(zoned.pointer == "/timeZone")
        #expect(!zoned.detail.contains("null"))
    }

    @Test func `what the old kind used goes with it, unless the patch names it`() throws {
        let merged = #"{"after":"5s","misses":3,"repeatAlarm":true,"clock":"continuous"}"#
        let rules = try BodyReading.rules(merged, patchedWith: #"{"watchdog":null,"after":"5s"}"#)
        #expect(rules == TimerRules(.after(5000)))
        let named = BodyReading.refusal(merged, patchedWith: #"{"watchdog":null,"after":"5s","repeatAlarm":true}"#)
        #expect(named?.pointer == "/repeatAlarm")
        let calendar = #"{"every":"1h","timeZone":"Europe/Berlin","from":"2030-01-01T00:00:00Z","clock":"wall"}"#
        #expect(
            try BodyReading.rules(calendar, patchedWith: #"{"cron":null,"every":"1h","clock":null}"#).schedule
                == .every(3_600_000, first: .period))
        let zone = BodyReading.refusal(calendar, patchedWith: #"{"cron":null,"every":"1h","timeZone":"Europe/Berlin"}"#)
        #expect(zone?.pointer == "/timeZone")
        let suspending = #"{"cron":"@daily","clock":"suspending"}"#
        #expect(try BodyReading.rules(suspending, patchedWith: #"{"after":null,"cron":"@daily"}"#).clock == .wall)
        #expect(BodyReading.refusal(merged)?.pointer == "/misses")
    }
}
