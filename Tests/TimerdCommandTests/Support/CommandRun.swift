import Testing

@testable import TimerdCommand

/// A command that ran to its end in the test's process, with variables of its own. It finds no terminal.
struct CommandRun {
    let code: Int32
    let output: String
    let errors: String

    init(_ arguments: String..., variables: [String: String] = [:]) {
        self.init(arguments, variables: variables)
    }

    init(_ arguments: [String], variables: [String: String] = [:]) {
        let record = ConsoleCapture()
        code = Console.$record.withValue(record) {
            Environment.$current.withValue(Environment(variables)) { Timerd.run(arguments) }
        }
        output = record.output
        errors = record.errors
    }

    /// The output of the command, which must have succeeded without errors.
    func printed(_ place: SourceLocation = #_sourceLocation) -> String {
        #expect(code == 0, sourceLocation: place)
        #expect(errors == "", sourceLocation: place)
        return output
    }

    /// The one line, without its end, with which the command was refused; it must have printed nothing else.
    func refusal(_ expected: Int32, _ place: SourceLocation = #_sourceLocation) -> String {
        #expect(code == expected, sourceLocation: place)
        #expect(output == "", sourceLocation: place)
        #expect(errors.hasPrefix("timerd: "), sourceLocation: place)
        #expect(errors.split(separator: "\n", omittingEmptySubsequences: false).count == 2, sourceLocation: place)
        return String(errors.dropLast())
    }
}
