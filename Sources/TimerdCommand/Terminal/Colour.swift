/// A colour of a cell, by its ANSI escape code.
enum Colour: String {
    case green = "32"
    case yellow = "33"
    case red = "31"
    case dim = "2"
    case bold = "1"

    /// Returns `text` in this colour.
    func paint(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

    /// Makes the colour of a timer's or a delivery's state; nil where it has none.
    init?(state: String?) {
        switch state {
        case "running": self = .green
        case "suspended", "pending", "inFlight", "waiting": self = .yellow
        case "stalled", "dead": self = .red
        case "cancelled", "completed": self = .dim
        default: return nil
        }
    }
}
