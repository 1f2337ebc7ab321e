import Testing
import TimerCore
import WireJSON

@testable import TimerAPI

/// The fields in which a timer shows what its client set.
struct TimerJSONTests {
    private static let at = #""at":"2030-01-01T00:00:00.000Z""#

    @Test(
        arguments: [
            (#"{"every":"1h",\#(at)}"#, #"{"every":"1h",\#(at),"timeZone":"UTC","start":"#),
            (#"{"every":"1h",\#(at),"timeZone":"UTC"}"#, #"{"every":"1h",\#(at),"timeZone":"UTC","start":"#),
            (
                #"{"every":"1d",\#(at),"timeZone":"Europe/Berlin"}"#,
                #"{"every":"1d",\#(at),"timeZone":"Europe/Berlin","start":"#
            ),
            (#"{\#(at)}"#, #"{\#(at),"start":"#), (#"{"every":"1h"}"#, #"{"every":"1h","start":"#),
            (#"{"every":"1h","after":"1m"}"#, #"{"every":"1h","after":"1m","start":"#),
            (#"{"cron":"@daily"}"#, #"{"cron":"@daily","timeZone":"UTC","from":null,"start":"#),
        ])
    func `a schedule is shown with its defaults`(body: String, shown: String) throws {
        var document = JSONDocument()
        try document.parse(Array(body.utf8))
        let rules = try TimerBody(document, zones: TwoZones()).rules
        var json = JSONWriter()
        json.beginObject()
        TimerJSON.writeRules(rules, &json)
        json.endObject()
        #expect(String(decoding: json.bytes, as: UTF8.self).hasPrefix(shown))
        // What is shown makes the same timer.
        try document.parse(json.bytes)
        #expect(try TimerBody(document, zones: TwoZones()).rules == rules)
    }
}
