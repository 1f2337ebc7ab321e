import TestSupport
import Testing

@testable import TimerAPI

/// Requests about deliveries that do not exist, or that can't be read.
@Suite(.serialized) struct DeliveryRequestTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    @Test func `a delivery that is not there is told before all else`() throws {
        for id in [
            "0000000000000000042", String(repeating: "0", count: 19), String(repeating: "9", count: 19), "1", "abc",
            "-",
            "%30000000000000000042x", String(repeating: "9", count: 20), "00000000000000000%202",
        ] {
            let path = "/v1/deliveries/\(id)"
            for answer in [
                try server.ask("GET", path + "?x=1"), try server.ask("DELETE", path, "x", type: "text/plain"),
                try server.ask("POST", path + "/redrive", #"{"x":1}"#), try server.ask("POST", path + "/redrive"),
            ] {
                #expect(answer.verdict == "404 not-found" && answer["timer"] == nil, "\(id): \(answer.text)")
            }
        }
        #expect(try server.ask("GET", "/v1/deliveries/1/nothing").verdict == "404 not-found")
        #expect(try server.ask("GET", "/v1/deliveries?timer=nobody").text == #"{"deliveries":[],"next":null}"#)
    }

    @Test func `a parameter that can't be is named`() throws {
        for (query, name) in [
            ("limit=0", "limit"), ("limit=1001", "limit"), ("state=inFlight", "state"), ("state=dead,", "state"),
            ("cursor=x", "cursor"), ("cursor=1", "cursor"), ("timer=a%20b", "timer"), ("timer=", "timer"),
            ("timer=batch", "timer"), ("timer=a&timer=b", "timer"), ("label=a", "label"),
            ("label=a%2Fb%20%3Dc", "label"), ("host=a%2Fb", "host"), ("host=a&host=b", "host"),
        ] {
            let answer = try server.ask("GET", "/v1/deliveries?\(query)")
            #expect(answer.verdict == "400 invalid-request ?\(name)", "\(query)")
        }
    }

    @Test func `a redrive of many needs a selector`() throws {
        for (body, verdict) in [
            ("{}", "400 invalid-request"), (#"{"labels":{}}"#, "400 invalid-request"), ("", "400 invalid-request"),
            (#"{"timer":null}"#, "400 invalid-request"), (#"{"timer":null,"labels":null}"#, "400 invalid-request"),
            (#"{"timer":"a b"}"#, "400 invalid-request /timer"), (#"{"timer":5}"#, "400 invalid-request /timer"),
            (#"{"timer":"batch"}"#, "400 invalid-request /timer"),
            (#"{"labels":{"a":1}}"#, "400 invalid-request /labels/a"),
            (#"{"labels":"a=b"}"#, "400 invalid-request /labels"),
            (#"{"states":["dead"]}"#, "400 unknown-field /states"),
            ("[]", "400 invalid-request the body"), ("null", "400 invalid-request the body"),
        ] {
            let answer = try server.ask("POST", "/v1/deliveries/redrive", body)
            #expect(answer.verdict == verdict, "\(body): \(answer.text)")
        }
        let dry = try server.ask("POST", "/v1/deliveries/redrive?dryRun=maybe", #"{"timer":"t"}"#)
        #expect(dry.verdict == "400 invalid-request ?dryRun")
        let none = try server.ask("POST", "/v1/deliveries/redrive", #"{"timer":"t"}"#)
        #expect(none.text == #"{"matched":0,"changed":0,"skipped":0}"#)
    }
}
