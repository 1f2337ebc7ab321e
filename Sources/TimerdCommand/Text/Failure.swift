/// The reason why the program ends without having done its work: one line for stderr and an exit code.
struct Failure: Error, Sendable {
    /// The exit code of the program; the numbers are those of `sysexits.h` where it has one.
    enum Code: Int32, Sendable, CaseIterable {
        /// Work that failed, where trying again may help.
        case other = 1
        /// A command line or a variable that makes no sense.
        case usage = 64
        /// Configuration or data that can't be used; trying again does not help.
        case unusable = 78

        /// The meaning of the code, for the help.
        var meaning: String {
            switch self {
            case .other: "it did not work out: refused, no server, no room for the output"
            case .usage: "the command line or a variable makes no sense"
            case .unusable: "configuration or data that can't be used"
            }
        }
    }

    /// The exit code.
    var code: Code
    /// The line that says what is wrong, without `timerd:` before it. Text repeated from a value, a file or an
    /// answer can't steer a terminal.
    var line: String
    /// Whether no server could be reached, so that the next request can't succeed either.
    var isUnreachable = false
    /// Whether the failure may pass by itself: no server, no answer, or a server that has too much to do or is
    /// starting.
    var isTransient = false

    /// Makes a failure; see the members.
    init(_ code: Code, _ line: String) {
        self.code = code
        self.line = Printable.text(line)
    }
}
