/// Columns under their titles.
enum TextTable {
    /// The lines of a table, each column as wide as its widest cell; an empty cell shows `-`.
    static func text(_ titles: [String], _ rows: [[String?]]) -> String {
        let lines = [titles] + rows.map { row in row.map { Printable.text($0 ?? "-") } }
        var widths = titles.map(\.count)
        for line in lines {
            for (index, cell) in line.enumerated() { widths[index] = max(widths[index], cell.count) }
        }
        return lines.map { line in
            let cells = zip(line, widths).map { padded($0, $1) }.joined(separator: "  ")
            return String(cells.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    /// `text` with spaces behind it up to a width.
    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
