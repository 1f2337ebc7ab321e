/// A colour of a cell, as ANSI escape codes say it.
enum Colour: String {
    case green = "32"
    case yellow = "33"
    case red = "31"
    case dim = "2"
    case bold = "1"

    /// `text` in this colour.
    func paint(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

    /// What a timer's state looks like.
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
