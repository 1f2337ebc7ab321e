import Foundation
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct FormatDocumentTests {
    /// The bytes of the example in `docs/LOG_FORMAT.md`: hexadecimal pairs up to two blanks, then words.
    private func example() throws -> [UInt8] {
        let page = try Repository.text(of: "docs/LOG_FORMAT.md")
        let section = try #require(page.components(separatedBy: "### An example").last)
        let block = try #require(section.components(separatedBy: "```").dropFirst().first)
        return block.split(separator: "\n").flatMap { line in
            (line.components(separatedBy: "  ").first ?? "").split(separator: " ").compactMap { UInt8($0, radix: 16) }
        }
    }

    @Test func `the example in the document is what a new log holds`() throws {
        let rig = try Rig()
        try rig.create("tea", TimerRules(.after(300_000)))
        try rig.settle()
        let row = try #require(try rows(of: rig.store).first)
        #expect(row.data == (try example()))
        #expect(row.first == 1_825_361_100_800_000_000)
        #expect(row.last == row.first + 1)
        #expect(row.previous == 0)
        rig.stop()
    }
}
