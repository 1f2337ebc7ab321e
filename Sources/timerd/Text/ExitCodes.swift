/// How the program exits: the one table, for the help and the documents.
enum ExitCodes {
    /// Each code with what it means.
    static let all: [(code: Int32, meaning: String)] =
        [(0, "done")] + Failure.Code.allCases.map { ($0.rawValue, $0.meaning) } + [(130, "ended by Ctrl-C")]

    /// A line a code.
    static let text = all.map { "  \(TextTable.padded("\($0.code)", 4))\($0.meaning)" }.joined(separator: "\n")
}
