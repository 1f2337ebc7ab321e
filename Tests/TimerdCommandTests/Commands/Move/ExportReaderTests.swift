import TestSupport
import Testing

@testable import TimerdCommand

struct ExportReaderTests {
    private static let lines = #"{"export":"x"}"# + "\n" + #"{"end":true,"lines":1}"# + "\n"

    /// Reads an export whose answer is `answer`.
    private func read(
        _ answer: String, _ take: @escaping ([UInt8]) throws(Failure) -> Void
    ) throws -> Result<Int, Failure> {
        let server = ScriptedServer([.answerAndClose(answer)])
        defer { server.stop() }
        let service = try ServiceClient(
            server: server.address, token: nil, ca: nil, Environment([:]), timeoutMs: Patience.milliseconds)
        do throws(Failure) { return .success(try ExportReader(service, "/v1/export").run(take)) } catch {
            return .failure(error)
        }
    }

    private func answer(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test func `a whole export is counted and passed on`() throws {
        var taken: [UInt8] = []
        let result = try read(answer(Self.lines)) { bytes throws(Failure) in taken += bytes }
        #expect(try result.get() == 2)
        #expect(String(decoding: taken, as: UTF8.self) == Self.lines)
    }

    @Test func `an export without its last line may be whole another time`() throws {
        let result = try read(answer(#"{"export":"x"}"# + "\n")) { _ throws(Failure) in }
        let failure = #expect(throws: Failure.self) { try result.get() }
        #expect(failure?.isTransient == true)
        #expect(failure?.line == "the export ended before its last line")
    }

    @Test func `a target that takes no more is the reason, and trying again does not help`() throws {
        let result = try read(answer(Self.lines)) { _ throws(Failure) in throw Failure(.other, "the disk is full") }
        let failure = #expect(throws: Failure.self) { try result.get() }
        #expect(failure?.line == "the disk is full")
        #expect(failure?.isTransient == false)
    }
}
