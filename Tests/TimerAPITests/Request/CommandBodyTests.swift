import Testing
import TimerCore
import WireJSON

@testable import TimerAPI

/// The bodies of commands.
struct CommandBodyTests {
    private func document(_ text: String) throws -> JSONDocument {
        var document = JSONDocument()
        try document.parse(Array(text.utf8))
        return document
    }

    private func target(_ text: String) throws -> RescheduleTarget {
        let document = try document(text)
        return try CommandBody.target(document, document.root)
    }

    @Test(
        arguments: [
            (#"{"after":"2h"}"#, .after(7_200_000)), (#"{"at":"1970-01-01T00:00:01Z"}"#, .at(1000)),
            (#"{"at":null,"after":"0s"}"#, .after(0)),
        ] as [(String, RescheduleTarget)])
    func `a reschedule has a duration or an instant`(text: String, expected: RescheduleTarget) throws {
        #expect(try target(text) == expected)
    }

    @Test(arguments: [
        ("{}", ProblemKind.invalidRequest, ""), (#"{"after":null}"#, .invalidRequest, ""),
        (#"{"after":"1h","at":"2099-01-01T00:00:00Z"}"#, .invalidRequest, ""), ("[]", .invalidRequest, ""),
        ("null", .invalidRequest, ""), (#"{"after":"x"}"#, .invalidSchedule, "/after"),
        (#"{"at":"x"}"#, .invalidSchedule, "/at"), (#"{"after":1}"#, .invalidRequest, "/after"),
        (#"{"after":"1h","colour":1}"#, .unknownField, "/colour"), (#"{"every":"1h"}"#, .unknownField, "/every"),
    ])
    func `another reschedule is pointed at`(text: String, kind: ProblemKind, pointer: String) {
        let problem = #expect(throws: Problem.self) { try target(text) }
        #expect(problem?.kind == kind)
        #expect(problem?.pointer == pointer)
    }

    @Test(
        arguments: [
            ("{}", nil), (#"{"why":"x"}"#, "/why"), ("[]", ""), (#""x""#, ""), ("null", ""), ("5", ""),
        ] as [(String, String?)])
    func `other commands take an empty object alone`(text: String, pointer: String?) throws {
        let document = try document(text)
        var found: String?
        do throws(Problem) { try CommandBody.requireEmpty(document) } catch { found = error.pointer }
        #expect(found == pointer)
    }
}
