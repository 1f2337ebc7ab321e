/// Why the program ends without having done what it was asked: one line for stderr and an exit code.
struct Failure: Error, Sendable {
    /// How the program exits; the numbers are those of `sysexits.h` where it has one.
    enum Code: Int32, Sendable, CaseIterable {
        /// It did not work out; trying again may help.
        case other = 1
        /// The command line or a variable makes no sense.
        case usage = 64
        /// Configuration or data that can't be used; trying again does not help.
        case unusable = 78

        /// What it says, for the help.
        var meaning: String {
            switch self {
            case .other: "it did not work out: refused, no server, no room for the output"
            case .usage: "the command line or a variable makes no sense"
            case .unusable: "configuration or data that can't be used"
            }
        }
    }

    /// How the program exits.
    var code: Code
    /// The line that says what is wrong, without `timerd:` before it. Text repeated from a value, a file or an answer can't
    /// steer a terminal.
    var line: String
    /// Whether no server could be reached, so that the next request can't succeed either.
    var isUnreachable = false
    /// Whether it may pass by itself: no server, no answer, or a server that has too much to do or is starting.
    var mayPass = false

    /// Makes a failure; see the members.
    init(_ code: Code, _ line: String) {
        self.code = code
        self.line = Printable.text(line)
    }
}
