import Testing

@testable import TimerdCommand

struct TimerTextTests {
    private func object(_ json: String) throws -> JSONObject { try #require(JSONObject(Array(json.utf8))) }

    private func cells(_ json: String) throws -> [String] { TimerText.row(try object(json)).map(\.text) }

    @Test(arguments: [
        (
            #"{"id":"tea","state":"running","nextFireAt":"2026-11-21T09:04:00.000Z","remaining":"4m","fireCount":0}"#,
            "tea: running, next fire 2026-11-21T09:04:00.000Z (in 4m)"
        ),
        (
            #"{"id":"tea","state":"suspended","nextFireAt":null,"remaining":"3m59s","fireCount":2}"#,
            "tea: suspended, 3m59s left, 2 fires"
        ),
        (#"{"id":"w","state":"running","health":"stalled","fireCount":1}"#, "w: running, stalled, 1 fires"),
        (#"{"id":"w","state":"running","health":"ok","fireCount":0}"#, "w: running"), ("{}", "?: ?"),
    ])
    func `a timer is a line`(json: String, text: String) throws {
        #expect(TimerText.line(try object(json)) == text)
    }

    @Test func `details have a line for each member that says something`() throws {
        let timer = try object(
            #"""
            {"id":"tea","every":null,"labels":{},"payload":"a\u202eb","allowed":[],"fireCount":0,
             "webhook":{"url":"https://hooks.example/","method":"POST","types":["fired","cancelled"],"stopped":true}}
            """#)
        #expect(
            TimerText.details(timer) == """
                id         tea
                payload    a b
                fireCount  0
                webhook    POST https://hooks.example/ (fired, cancelled), stopped
                """)
    }

    @Test(arguments: [
        (#"{"every":"10s"}"#, "every 10s"), (#"{"every":"10s","after":"1m"}"#, "every 10s"),
        (#"{"watchdog":"1h"}"#, "watchdog 1h"),
        (#"{"watchdog":"1h","cron":"0 3 * * *"}"#, "watchdog 1h, cron 0 3 * * *"),
        (#"{"cron":"@daily"}"#, "cron @daily"), (#"{"after":"4m"}"#, "after 4m"),
        (#"{"at":"2030-01-01T00:00:00.000Z"}"#, "at 2030-01-01T00:00:00Z"), ("{}", "-"),
    ])
    func `the schedule is the field that says when it fires`(json: String, text: String) throws {
        #expect(try cells(json)[4] == text)
    }

    @Test func `a row has short times and labels`() throws {
        let json = #"""
            {"id":"tea","state":"running","remaining":"50h30m","nextFireAt":"2026-11-21T09:04:00.123Z","after":"51h",
             "fireCount":3,"labels":{"team":"blue","a":"b"}}
            """#
        let shown = ["tea", "running", "2d2h", "2026-11-21T09:04:00Z", "after 51h", "3", "team=blue,a=b"]
        #expect(try cells(json) == shown)
        #expect(
            try cells(#"{"id":"w","state":"running","health":"stalled"}"#) == ["w", "stalled", "-", "-", "-", "-", "-"])
    }

    @Test(arguments: ["\u{202e}", "\u{2066}", "\u{200f}", "\u{61c}", "\u{9b}", "\u{7f}"])
    func `what could steer the terminal is shown as a space`(control: String) throws {
        let json = #"{"id":"a\#(control)b","state":"idle","type":"fired","timer":"a\#(control)b"}"#
        let timer = try object(json)
        for text in [TimerText.line(timer), TimerText.details(timer), TimerText.event(timer), try cells(json)[0]] {
            #expect(text.contains("a b") && !text.contains(control))
        }
    }

    @Test func `an event is a line with what it has`() throws {
        let event = #"""
            {"at":"2026-11-21T09:04:00.000Z","type":"fired","timer":"tea","fire":1,"reason":"due","latenessUs":112,
             "missed":0,"payload":{"cup":"blue"}}
            """#
        #expect(
            TimerText.event(try object(event))
                == "2026-11-21T09:04:00.000Z  fired        tea  fire=1  reason=due  latenessUs=112"
                + #"  payload={"cup":"blue"}"#)
        let recovered = #"{"at":"T","type":"recovered","timer":"w","stalledFor":"2s","silentFor":"3s","missed":2}"#
        #expect(TimerText.event(try object(recovered)) == "T  recovered    w  missed=2  stalledFor=2s  silentFor=3s")
    }
}
