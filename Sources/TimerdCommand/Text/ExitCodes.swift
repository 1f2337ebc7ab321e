import ArgumentParser

/// The exit codes of the program: the one table, for the help and the documents.
enum ExitCodes {
    /// The exit code of `timerd apply --dry-run` where something differs.
    static let differs = ExitCode(2)

    /// Each code with what it means.
    static let all: [(code: Int32, meaning: String)] =
        ([(0, "done"), (differs.rawValue, "of apply --dry-run: something differs")]
        + Failure.Code.allCases.map { ($0.rawValue, $0.meaning) }
        + [(130, "ended by Ctrl-C"), (143, "ended by SIGTERM")]).sorted { $0.code < $1.code }

    /// The table as text, a line a code.
    static let text = all.map { "  \(TextTable.padded("\($0.code)", 4))\($0.meaning)" }.joined(separator: "\n")
}
