import Glibc
import Platform
import Primitives

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

/// The progress of long work: the last line on standard error where that is a terminal, nothing elsewhere.
struct Progress {
    /// The shortest time between two drawings, in nanoseconds.
    private static let period: Int64 = 200_000_000

    private let isShown = Terminal.isError
    private var drawnAt: Int64?

    /// Whether it is time to draw again.
    private var isDue: Bool { isShown && drawnAt.map { Clocks.monotonic() - $0 >= Self.period } ?? true }

    /// Draws `text` over the last drawing, unless that is too recent.
    mutating func show(_ text: @autoclosure () -> String) {
        guard isDue else { return }
        drawnAt = Clocks.monotonic()
        Console.write(Array("\r\u{1b}[K\(text())".utf8), to: 2)
    }

    /// Wipes the line, before anything else is written.
    mutating func end() {
        guard drawnAt != nil else { return }
        drawnAt = nil
        Console.write(Array("\r\u{1b}[K".utf8), to: 2)
    }
}

/// Text from a server or a file, made safe for a terminal.
enum Printable {
    /// Returns `text` with spaces in place of the characters that could steer a terminal or turn its text around.
    static func text(_ text: String) -> String { VisibleText.replacingControls(in: text) }
}
