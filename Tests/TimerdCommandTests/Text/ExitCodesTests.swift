import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct ExitCodesTests {
    @Test func `what the help says is what the documents say`() throws {
        let codes = ExitCodes.all.map { "| \($0.code) | \($0.meaning) |" }
        let lines = try Repository.text(of: "docs/OPERATIONS.md").split(separator: "\n").map(String.init)
        let rows = lines.filter { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return line.hasPrefix("| ") && cells.count == 2 && cells[0].allSatisfy(\.isNumber)
        }
        #expect(rows == codes)
        let help = CommandRun("--help").printed()
        for (code, meaning) in ExitCodes.all { #expect(help.contains("  \(TextTable.padded("\(code)", 4))\(meaning)")) }
        #expect(ExitCodes.all.map(\.code) == [0, 1, 2, 64, 78, 130, 143])
    }
}
