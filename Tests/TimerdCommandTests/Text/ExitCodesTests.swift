import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct ExitCodesTests {
    @Test func `what the help says is what the documents say`() throws {
        let codes = ExitCodes.all.map { "| \($0.code) | \($0.meaning) |" }
        let rows = try Repository.text(of: "docs/OPERATIONS.md").split(separator: "\n").filter { line in
            line.hasPrefix("| ") && line.dropFirst(2).prefix { $0 != " " }.allSatisfy(\.isNumber)
        }
        #expect(rows.map(String.init).filter { $0.split(separator: "|").count == 2 } == codes)
        let help = CommandRun("--help").printed()
        for (code, meaning) in ExitCodes.all { #expect(help.contains("  \(TextTable.padded("\(code)", 4))\(meaning)")) }
        #expect(ExitCodes.all.map(\.code) == [0, 1, 2, 64, 78, 130, 143])
    }
}
