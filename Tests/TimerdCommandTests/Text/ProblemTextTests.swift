import Testing

@testable import HTTPClient
@testable import TimerdCommand

struct ProblemTextTests {
    private func line(_ status: Int, _ body: String) -> String {
        ProblemText.line(HTTPResponse(status: status, headers: [], body: Array(body.utf8)))
    }

    @Test(
        arguments: [
            (
                404, #"{"type":"/problems/not-found","detail":"there is no such timer","timer":"tea"}"#,
                "404 not-found: there is no such timer: tea"
            ),
            (
                409, #"{"type":"/problems/timer-exists","detail":"the id is taken","timer":"tea"}"#,
                "409 timer-exists: the id is taken: tea"
            ),
            (
                409,
                #"{"type":"/problems/illegal-transition","detail":"it is idle","timer":"tea","allowed":["activate"]}"#,
                "409 illegal-transition: it is idle (legal now: activate)"
            ),
            (
                409, #"{"type":"/problems/illegal-transition","title":"No","allowed":["fire","cancel"]}"#,
                "409 illegal-transition: No (legal now: fire, cancel)"
            ),
            (
                400, #"{"type":"/problems/invalid-body","detail":"expected a duration","pointer":"/every"}"#,
                "400 invalid-body: expected a duration (at /every)"
            ),
            (
                400, #"{"type":"/problems/invalid-body","detail":"expected an object","pointer":""}"#,
                "400 invalid-body: expected an object"
            ),
            (
                400, #"{"type":"/problems/invalid-parameter","detail":"no such state","parameter":"state"}"#,
                "400 invalid-parameter: no such state (at state)"
            ),
            (400, #"{"type":"/problems/x","detail":"a\u202eb\u001b[31m"}"#, "400 x: a b [31m"),
            (
                401, #"{"type":"/problems/unauthorized"}"#,
                "401 unauthorized; --token, --token-file, TIMERD_TOKEN or TIMERD_TOKEN_FILE gives a token or key"
            ),
            (
                503, #"{"type":"/problems/owner-unavailable","detail":"another node","owner":"http://b:8080"}"#,
                "503 owner-unavailable: another node; the owner is http://b:8080"
            ),
            (
                409, #"{"type":"/problems/still-running","detail":"the server was not drained"}"#,
                "409 still-running: the server was not drained; `timerd export --drain` makes one that moves, "
                    + "and --copy takes this one"
            ),
            (
                403,
                #"{"type":"/problems/forbidden","detail":"this takes the scope `write`, which …","scope":"write"}"#,
                "403 forbidden: this takes the scope `write`, which …"
            ),
        ] as [(Int, String, String)])
    func `a problem is one line with what helps`(status: Int, body: String, text: String) {
        #expect(line(status, body) == text)
    }

    @Test(arguments: [
        ("", "502"), ("<html>\nBad gateway", "502: <html>"), ("\u{1b}[2J", "502:  [2J"), ("{}", "502: {}"),
        (String(repeating: "x", count: 300), "502: " + String(repeating: "x", count: 200)),
    ])
    func `what is no problem is told as far as it is text`(body: String, text: String) {
        #expect(line(502, body) == text)
    }
}
