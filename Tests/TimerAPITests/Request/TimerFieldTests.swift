import Testing
import TimerCore
import WireJSON

@testable import TimerAPI

/// The values that a field of a create takes, and the member that a refusal points to.
struct TimerFieldTests {
    @Test(arguments: [
        (#""start":"later""#, "/start"), (#""start":1"#, "/start"), (#""stop":"never""#, "/stop"),
        (#""clock":"sundial""#, "/clock"), (#""clock":0"#, "/clock"), (#""mode":"fixedMood""#, "/mode"),
        (#""onResume":"forget""#, "/onResume"), (#""misfire":"often""#, "/misfire"), (#""misfire":true"#, "/misfire"),
        (#""maxFires":0"#, "/maxFires"), (#""maxFires":-1"#, "/maxFires"), (#""maxFires":1.5"#, "/maxFires"),
        (#""maxFires":"3""#, "/maxFires"), (#""maxFires":1000000000000000000000000000000"#, "/maxFires"),
        (#""misses":0"#, "/misses"), (#""misses":1.5"#, "/misses"), (#""misses":"2""#, "/misses"),
        (#""repeatAlarm":1"#, "/repeatAlarm"), (#""restartable":"yes""#, "/restartable"),
        (#""restartable":1"#, "/restartable"), (#""labels":[]"#, "/labels"), (#""labels":"x""#, "/labels"),
        (#""after":10"#, "/after"), (#""after":{}"#, "/after"), (#""at":4070908800"#, "/at"),
        (#""until":5"#, "/until"), (#""retain":5"#, "/retain"), (#""leeway":5"#, "/leeway"),
        (#""jitter":[]"#, "/jitter"),
        (#""misfireGrace":1"#, "/misfireGrace"), (#""cron":5"#, "/cron"), (#""cron":["@daily"]"#, "/cron"),
        (#""watchdog":5"#, "/watchdog"), (#""timeZone":1"#, "/timeZone"), (#""from":1"#, "/from"),
        (#""id":5"#, "/id"), (#""id":["a"]"#, "/id"), (#""id":true"#, "/id"), (#""id":"""#, "/id"),
        (#""id":".""#, "/id"), (#""id":"batch""#, "/id"), (#""id":"a/b""#, "/id"),
    ])
    func `a value of another type or word is pointed at`(field: String, pointer: String) throws {
        let problem = try #require(BodyReading.refusal(#"{"every":"1h",\#(field)}"#))
        #expect(problem.kind == .invalidRequest)
        #expect(problem.pointer == pointer)
    }

    @Test(arguments: [
        (#"{"after":"36526d"}"#, "/after"), (#"{"at":"tomorrow"}"#, "/at"), (#"{"every":"0s"}"#, "/every"),
        (#"{"watchdog":"0s"}"#, "/watchdog"), (#"{"every":"1h","until":"soon"}"#, "/until"),
        (#"{"every":"1h","retain":"-1s"}"#, "/retain"), (#"{"every":"1h","leeway":"-1s"}"#, "/leeway"),
        (#"{"every":"1h","leeway":"0.1ms"}"#, "/leeway"), (#"{"every":"1h","jitter":"1y"}"#, "/jitter"),
        (#"{"every":"1h","misfireGrace":"soon"}"#, "/misfireGrace"), (#"{"cron":"@daily","from":"soon"}"#, "/from"),
        (#"{"cron":"61 * * * *"}"#, "/cron"), (#"{"cron":""}"#, "/cron"),
        (#"{"watchdog":"1h","cron":"0 0 31 2 *"}"#, "/cron"),
    ])
    func `a duration, instant or expression that can't be is pointed at`(text: String, pointer: String) throws {
        let problem = try #require(BodyReading.refusal(text))
        #expect(problem.kind == .invalidSchedule)
        #expect(problem.pointer == pointer)
    }

    @Test func `a duration and an instant may be escaped`() throws {
        #expect(try BodyReading.rules(#"{"after":"1\u0068"}"#).schedule == .after(3_600_000))
        #expect(try BodyReading.rules(#"{"at":"2030-01-01T00:00:00\u005a"}"#).schedule == .at(1_893_456_000_000))
    }

    @Test func `a period has a millisecond at least`() throws {
        #expect(try BodyReading.rules(#"{"every":"1ms"}"#).schedule == .every(1, first: .period))
    }

    @Test(arguments: [
        (#""timezone":"UTC""#, "a timer has no field `timezone`: did you mean `timeZone`?"),
        (#""max_fires":1"#, "a timer has no field `max_fires`: did you mean `maxFires`?"),
        (#""webhook":{"URL":"https://hooks.example"}"#, "a webhook has no field `URL`: did you mean `url`?"),
        (#""zone":"UTC""#, "a timer has no field `zone`"),
    ])
    func `a member that differs in case or signs from a field suggests it`(field: String, detail: String) throws {
        #expect(try #require(BodyReading.refusal(#"{"after":"1h",\#(field)}"#)).detail == detail)
    }

    @Test(arguments: [
        (#""colour":"red""#, "/colour"), (#""a/b~c":1"#, "/a~1b~0c"), (#""After":"1h""#, "/After"), ("\"\":1", "/"),
        (#""colour":null"#, "/colour"),
    ])
    func `a member that no timer has is pointed at`(field: String, pointer: String) throws {
        let problem = try #require(BodyReading.refusal(#"{"after":"1h",\#(field)}"#))
        #expect(problem.kind == .unknownField)
        #expect(problem.pointer == pointer)
    }

    @Test(arguments: ["[]", "null", "5", #""x""#])
    func `a body is an object`(text: String) throws {
        #expect(try #require(BodyReading.refusal(text)).pointer == "")
    }

    private func text(_ count: Int, _ character: String = "x") -> String { String(repeating: character, count: count) }

    @Test func `a label that can't be is pointed at`() throws {
        for (label, pointer) in [
            ("\"\":\"x\"", "/labels/"), (#""a b":"x""#, "/labels/a b"), (#""ä":"x""#, "/labels/ä"),
            ("\"\(text(64))\":\"x\"", "/labels/\(text(64))"), ("\"k\":\"\(text(256))\"", "/labels/k"),
            ("\"k\":\"\(text(128, "é"))\"", "/labels/k"), (#""k":1"#, "/labels/k"), (#""l":"","k":null"#, "/labels/k"),
            (#""k":"a\u0000""#, "/labels/k"),
            ((0..<17).map { "\"k\($0)\":\"\"" }.joined(separator: ","), "/labels"),
        ] {
            let problem = BodyReading.refusal(#"{"after":"1h","labels":{\#(label)}}"#)
            #expect(problem?.kind == .invalidRequest, "\(label)")
            #expect(problem?.pointer == pointer, "\(label)")
        }
    }

    @Test func `labels and a payload may be as large as their limits`() throws {
        let labels =
            (0..<14).map { "\"k\($0)\":\"v\"" } + ["\"\(text(63))\":\"\(text(255))\"", "\"l\":\"\(text(127, "é"))\""]
        #expect(BodyReading.refusal(#"{"after":"1h","labels":{\#(labels.joined(separator: ","))}}"#) == nil)
        let payload = "\"\(text(APILimits.payloadBytes - 2))\""
        #expect(BodyReading.refusal(#"{"after":"1h","payload":\#(payload)}"#) == nil)
        let problem = BodyReading.refusal(#"{"after":"1h","payload":"x\#(payload.dropFirst())}"#)
        #expect(problem?.kind == .tooLarge && problem?.pointer == "/payload")
    }
}
