import Glibc

/// The terminal that a person uses, at standard output and standard error.
enum Terminal {
    /// Whether standard output is a terminal.
    static var isOutput: Bool { Console.record == nil && isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    static var isError: Bool { Console.record == nil && isatty(STDERR_FILENO) == 1 }

    /// The columns and lines of the terminal at standard output; nil where that is no terminal, or its size is
    /// unknown.
    static var size: (columns: Int, lines: Int)? {
        guard isOutput else { return nil }
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether to colour what is printed: on a terminal that knows colours, unless NO_COLOR is set
    /// (https://no-color.org).
    static func hasColours(_ environment: Environment) -> Bool {
        isOutput && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }
}
