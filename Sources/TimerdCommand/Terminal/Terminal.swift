import Glibc

/// What is known of the terminal that a person sits at.
enum Terminal {
    /// Whether standard output is a terminal.
    static var isOutput: Bool { Console.record == nil && isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    static var isError: Bool { Console.record == nil && isatty(STDERR_FILENO) == 1 }

    /// Columns and lines of the terminal at standard output; nil where it is none, or does not tell.
    static var size: (columns: Int, lines: Int)? {
        guard isOutput else { return nil }
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether to colour what is printed: on a terminal that knows colours, unless NO_COLOR says no
    /// (https://no-color.org).
    static func hasColours(_ environment: Environment) -> Bool {
        isOutput && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }
}
