import TestSupport
import Testing

@testable import TimerdCommand

/// The commands about calendars: what they send, and what they print of the answers.
struct CalendarsTests {
    private static let calendar =
        #"{"name":"b","timeZone":"Europe/Berlin","week":{"mon":["09:00-17:00"]},"dates":{"2026-12-24":[]},"version":3,"#
        + #""updatedAt":"2026-11-21T08:00:00.000Z"}"#

    /// Runs a command at a server with this answer. Returns the run, and the first line of the request.
    private func ask(_ words: [String], _ body: String, status: Int = 200) -> (run: CommandRun, request: String) {
        let server = ScriptedServer([
            .answer("HTTP/1.1 \(status) Answer\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        ])
        defer { server.stop() }
        let run = CommandRun(["calendars"] + words, variables: ["TIMERD_SERVER": server.address])
        return (run, server.requests.first?.split(separator: "\r\n").first.map(String.init) ?? "")
    }

    @Test(arguments: [(201, "made"), (200, "set")])
    func `put sends a file`(_ status: Int, _ verb: String) throws {
        let (run, request) = ask(["put", "b", "/dev/null"], Self.calendar, status: status)
        #expect(request == "PUT /v1/calendars/b HTTP/1.1")
        #expect(run.printed() == "b: \(verb), version 3\n")
    }

    @Test func `get shows the calendar, and list a table`() {
        let shown = ask(["get", "b"], Self.calendar)
        #expect(shown.request == "GET /v1/calendars/b HTTP/1.1")
        #expect(shown.run.printed().contains("timeZone   Europe/Berlin\nweek       {\"mon\":[\"09:00-17:00\"]}\n"))
        let listed = ask(["list", "--limit", "1", "--cursor", "a"], #"{"calendars":[\#(Self.calendar)],"next":"b"}"#)
        #expect(listed.request == "GET /v1/calendars?limit=1&cursor=a HTTP/1.1")
        #expect(
            listed.run.output == "NAME  TIME ZONE      DATES  VERSION  CHANGED\n"
                + "b     Europe/Berlin  1      3        2026-11-21T08:00:00Z\n")
        #expect(listed.run.errors == "more: --cursor b\n")
    }

    @Test func `open shows intervals, and how to go on`() {
        let interval = #"{"from":"2026-12-24T08:00:00.000Z","until":"2026-12-24T12:00:00.000Z"}"#
        let (run, request) = ask(
            ["open", "b", "--from", "2026-12-24T00:00:00Z"],
            #"{"open":[\#(interval)],"next":"2026-12-28T08:00:00.000Z"}"#)
        #expect(request == "GET /v1/calendars/b/open?from=2026-12-24T00%3A00%3A00Z HTTP/1.1")
        #expect(run.output == "2026-12-24T08:00:00Z  2026-12-24T12:00:00Z\n")
        #expect(run.errors == "more: --from 2026-12-28T08:00:00.000Z\n")
        let closed = ask(["open", "b"], #"{"open":[],"next":null}"#).run
        #expect(closed.output == "" && closed.errors == "b: closed all that time\n" && closed.code == 0)
    }

    @Test func `delete says what is gone`() {
        let (run, request) = ask(["delete", "b"], "", status: 204)
        #expect(request == "DELETE /v1/calendars/b HTTP/1.1")
        #expect(run.printed() == "b: deleted\n")
    }
}
