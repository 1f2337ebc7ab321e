import Platform

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
