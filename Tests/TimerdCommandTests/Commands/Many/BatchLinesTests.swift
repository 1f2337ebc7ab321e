import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct BatchLinesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The parts of a file: the numbers of their lines, and their bytes.
    private func parts(_ text: String) throws -> [BatchLines.Part] {
        try directory.write("lines", Data(text.utf8))
        var lines = BatchLines(try InputFile(directory.file("lines")))
        var parts: [BatchLines.Part] = []
        while let part = try lines.next() { parts.append(part) }
        return parts
    }

    @Test(arguments: [
        ("", [], ""), ("\n \n\t\n", [], ""), ("{}", [1], "{}\n"), ("{}\n", [1], "{}\n"),
        ("\na\n  \n\nb\r\nc", [2, 5, 6], "a\nb\r\nc\n"),
    ])
    func `blank lines are left out, and the last line gets its end`(text: String, numbers: [Int], bytes: String) throws
    {
        let parts = try parts(text)
        #expect(parts.flatMap(\.numbers) == numbers)
        #expect(String(decoding: parts.flatMap(\.bytes), as: UTF8.self) == bytes)
    }

    @Test func `a part has a bounded number of lines`() throws {
        let parts = try parts(String(repeating: "{}\n", count: BatchLines.mostLines + 50))
        #expect(parts.map(\.numbers.count) == [BatchLines.mostLines, 50])
        #expect(parts.last?.numbers.first == BatchLines.mostLines + 1)
    }

    @Test func `a part has a bounded number of bytes`() throws {
        let line = String(repeating: "x", count: 1 << 20 - 1) + "\n"
        let parts = try parts(String(repeating: line, count: 17))
        #expect(parts.map(\.numbers) == [Array(1...16), [17]])
        #expect(parts.map(\.bytes.count) == [BatchLines.mostBytes, 1 << 20])
    }

    @Test func `a line that no part could hold is refused by its number`() throws {
        let longest = String(repeating: "x", count: BatchLines.mostBytes - 1)
        #expect(try parts("\n\(longest)\n").map(\.numbers) == [[2]])
        let failure = #expect(throws: Failure.self) { try parts("\n\(longest)x\n") }
        #expect(failure?.code == .usage)
        #expect(failure?.line.hasSuffix("line 2: over \(BatchLines.mostBytes) bytes") == true)
    }
}
