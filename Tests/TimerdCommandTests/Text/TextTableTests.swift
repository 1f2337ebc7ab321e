import Testing

@testable import TimerdCommand

struct TextTableTests {
    private let table = TextTable(
        titles: ["ID", "STATE", "LABELS"], narrowings: [.cut("LABELS", to: 6), .drop("LABELS"), .cut("ID", to: 3)])

    private let rows: [[TextTable.Cell]] = [
        [.init("tea"), .init("running", .green), .init("team=blue")], [.init("nightly"), .init(nil), .init("")],
    ]

    @Test func `columns are as wide as their widest cell`() {
        #expect(table.lines(rows) == ["ID       STATE    LABELS", "tea      running  team=blue", "nightly  -        "])
        #expect(table.lines([]) == ["ID  STATE  LABELS"])
    }

    @Test(arguments: [
        (80, "tea      running  team=blue"), (27, "tea      running  team=blue"), (26, "tea      running  team=bl…"),
        (24, "tea      running  team=…"), (23, "tea      running"), (16, "tea      running"), (15, "tea     running"),
        (12, "tea  running"), (11, "tea  runni…"), (5, "tea  "),
    ])
    func `a narrow table cuts cells, then leaves columns out, then cuts lines`(width: Int, row: String) {
        let lines = table.lines(rows, width: width)
        #expect(lines[1] == row)
        for line in lines { #expect(line.count <= width) }
    }

    @Test(arguments: [30, 60, 80, 200])
    func `a list of timers fits any terminal`(width: Int) throws {
        let id = String(repeating: "i", count: 60)
        let label = String(repeating: "x", count: 200)
        let json = #"{"id":"t1-\#(id)","state":"running","remaining":"1h","after":"1h","labels":{"l":"\#(label)"}}"#
        let timer = try #require(JSONObject(Array(json.utf8)))
        let lines = TimerText.table.lines([TimerText.row(timer)], width: width)
        for line in lines { #expect(line.count <= width) }
        #expect(lines[1].hasPrefix("t1-") && lines[1].contains("running") && lines[1].contains("…"))
    }

    @Test func `colours are around cells and never count`() {
        let lines = table.lines(rows, width: 27, isColoured: true)
        #expect(lines[0] == "\u{1b}[1mID\u{1b}[0m       \u{1b}[1mSTATE\u{1b}[0m    \u{1b}[1mLABELS\u{1b}[0m")
        #expect(lines[1] == "tea      \u{1b}[32mrunning\u{1b}[0m  team=blue")
    }

    @Test(
        arguments: [
            ("running", "32"), ("suspended", "33"), ("pending", "33"), ("inFlight", "33"), ("waiting", "33"),
            ("stalled", "31"), ("dead", "31"), ("cancelled", "2"), ("completed", "2"), ("idle", nil), (nil, nil),
        ] as [(String?, String?)])
    func `a state has its colour`(state: String?, code: String?) {
        #expect(Colour(state: state)?.rawValue == code)
    }

    @Test(arguments: ["\u{1b}[31m", "a\nb", "a\u{202e}b"])
    func `a control character in a cell is a space`(text: String) {
        let cell = TextTable.Cell(text)
        #expect(cell.text.contains(" ") && !cell.text.contains { "\u{1b}\n\u{202e}".contains($0) })
    }
}
