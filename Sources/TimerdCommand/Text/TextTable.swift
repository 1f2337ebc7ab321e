/// A table of text: columns under their titles.
struct TextTable {
    /// The text of a cell and its colour.
    struct Cell {
        var text: String
        var colour: Colour?

        /// Makes a cell; nil shows as `-`. Control characters, which could steer a terminal, are shown as spaces.
        init(_ text: String?, _ colour: Colour? = nil) {
            self.text = Printable.text(text ?? "-")
            self.colour = colour
        }
    }

    /// A way to make a table narrower.
    enum Narrowing {
        /// Cuts the cells of a column, down to so many characters.
        case cut(String, to: Int)
        /// Leaves a column out.
        case drop(String)
    }

    /// The titles of the columns.
    let titles: [String]
    /// The ways to make the table fit, in the order in which they are tried. Lines still too long are cut.
    let narrowings: [Narrowing]

    /// Returns the lines of the table of `rows`, each with a cell for each title.
    ///
    /// - Parameters:
    ///   - width: the most characters of a line; nil for any.
    ///   - isColoured: whether cells have their colours.
    func lines(_ rows: [[Cell]], width: Int? = nil, isColoured: Bool = false) -> [String] {
        let all = [titles.map { Cell($0, .bold) }] + rows
        var widths = titles.indices.map { column in all.map { $0[column].text.count }.max() ?? 0 }
        var shown = Array(titles.indices)
        if let width { fit(&widths, &shown, width) }
        var lines: [String] = []
        for row in all {
            var line = ""
            var room = width ?? .max
            for column in shown where room > 0 {
                let gap = line.isEmpty ? "" : "  "
                let isLast = column == shown.last
                let cell = Self.cut(row[column].text, to: min(widths[column], max(0, room - gap.count)))
                let padding = isLast ? "" : String(repeating: " ", count: widths[column] - cell.count)
                room -= gap.count + cell.count + padding.count
                let colour = isColoured ? row[column].colour : nil
                line += gap + (colour?.paint(cell) ?? cell) + padding
            }
            lines.append(line)
        }
        return lines
    }

    private func fit(_ widths: inout [Int], _ shown: inout [Int], _ width: Int) {
        for narrowing in narrowings {
            let excess = shown.reduce(0) { $0 + widths[$1] } + 2 * (shown.count - 1) - width
            guard excess > 0 else { return }
            switch narrowing {
            case .cut(let title, let least):
                guard let column = titles.firstIndex(of: title), widths[column] > least else { continue }
                widths[column] = max(least, widths[column] - excess)
            case .drop(let title):
                shown.removeAll { titles[$0] == title }
            }
        }
    }

    /// Returns `text` cut to a width, with `…` at its end where something is missing.
    private static func cut(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        return width < 1 ? "" : text.prefix(width - 1) + "…"
    }

    /// Returns `text` filled up to a width with spaces at its end.
    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

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
