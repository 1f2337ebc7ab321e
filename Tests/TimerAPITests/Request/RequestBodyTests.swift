import TestSupport
import Testing

/// The bodies that are taken, before their fields are read. `JSONAcceptanceTests` has the grammar.
struct RequestBodyTests {
    @Test func `another media type is refused, and nothing is created`() throws {
        let server = try WholeServer()
        let body = #"{"id":"new","after":"1h"}"#
        let types = [
            "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml",
            "application/merge-patch+json", "application/jsonx", "json", "",
        ]
        for type in types {
            let answer = try server.ask("POST", "/v1/timers", body, type: type)
            #expect(answer.status == 415, "\(type)")
            #expect(answer.problem(at: "/v1/timers") == "unsupported-media-type", "\(type)")
        }
        let client = RawClient(port: try server.port)
        client.send("POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(client.answer()?.problem(at: "/v1/timers") == "unsupported-media-type", "no type at all")
        #expect(try server.ask("GET", "/v1/timers/new").status == 404)
    }

    @Test func `JSON is named by any spelling, once`() throws {
        let server = try WholeServer()
        let types = [
            "application/json", "application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8",
        ]
        for type in types {
            #expect(try server.ask("POST", "/v1/timers", #"{"after":"1h"}"#, type: type).status == 201, "\(type)")
        }
        for second in ["application/json", "text/plain"] {
            let twice = "application/json\r\nContent-Type: \(second)"
            let answer = try server.ask("POST", "/v1/timers", #"{"id":"new","after":"1h"}"#, type: twice)
            #expect(answer.status == 400)
            #expect(answer.problem(at: "/v1/timers") == "invalid-request")
        }
        #expect(try server.ask("GET", "/v1/timers/new").status == 404)
    }

    private static let broken: [String] = [
        "", " ", "{", "}", "nul", "[]", #""x""#, "null", "5", #"{"after":"1h"}x"#, #"{"after":"1h"}{}"#,
        #"{"after":"1h",}"#, "{'after':'1h'}", #"{"after":"1h""#, #"{"after":1h}"#, "{\"after\":\"1\nh\"}",
        "\u{FEFF}{\"after\":\"1h\"}", #"{"after":"1h","payload":01}"#, #"{"after":"1h","payload":NaN}"#,
        #"{"after":"1h","payload":"\x"}"#, #"{"after":"1h","payload":+1}"#, #"{"after":"1h","payload":1.}"#,
        #"{"after":"1h","payload":"\ud800"}"#, #"{"after":"1h","payload":"\udc00\ud800"}"#,
        #"{"after":"1h","payload":"\ud800x"}"#, #"{"after":"1h","after":"1h"}"#, #"{"after":"1h","\u0061fter":"1h"}"#,
        #"{"after":"1h","labels":{"a":"1","a":"1"}}"#, #"/* x */{"after":"1h"}"#,
        #"{"after":"1h","payload":"# + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}",
        #"{"after":"1h","payload":"# + String(repeating: "[", count: 50_000),
    ]

    @Test func `what is no JSON object is refused`() throws {
        let server = try WholeServer()
        for body in Self.broken {
            let answer = try server.ask("POST", "/v1/timers", body)
            #expect(answer.status == 400, "\(body.prefix(40))")
            #expect(answer.problem(at: "/v1/timers") == "invalid-request", "\(body.prefix(40))")
        }
        let notUTF8: [[UInt8]] = [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80]]
        for bytes in notUTF8 {
            let body = Array(#"{"after":"1h","payload":""#.utf8) + bytes + Array("\"}".utf8)
            let fields = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: \(body.count)"
            let client = RawClient(port: try server.port)
            client.send(Array("POST /v1/timers HTTP/1.1\r\n\(fields)\r\n\r\n".utf8) + body)
            #expect(client.answer()?.problem(at: "/v1/timers") == "invalid-request", "\(bytes)")
        }
        #expect(try server.ask("GET", "/v1/timers").text.contains(#""timers":[]"#))
    }

    @Test func `escapes in names, spaces around values and deep values are JSON`() throws {
        let nested = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
        let body = " \t\r\n{\"\\u0061fter\":\"1h\",\"payload\":[\"\\ud83d\\ude00\",\"\u{1F600}\",\(nested)]} \n"
        let answer = try WholeServer().ask("POST", "/v1/timers", body)
        #expect(answer.status == 201)
        #expect(answer["payload/0"] == "\u{1F600}")
    }

    @Test(arguments: [
        (#"{"after":"1h","after":"2h"}"#, "/after"), (#"{"after":"1h","labels":{"a":5}}"#, "/labels/a"),
        (#"{"after":"1h","labels":{"a":"x\u0000y"}}"#, "/labels/a"),
    ])
    func `a member that is wrong is pointed at`(body: String, pointer: String) throws {
        let answer = try WholeServer().ask("POST", "/v1/timers", body)
        #expect(answer.status == 400)
        #expect(answer["pointer"] == pointer)
    }
}
