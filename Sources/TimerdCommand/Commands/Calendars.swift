import ArgumentParser
import HTTPClient
import WireJSON

/// `timerd calendars …`.
struct Calendars: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Set, show, list and delete calendars: when something is open.",
        discussion: """
            A calendar is JSON: a time zone, the open hours of each weekday, and dates that replace them.

              echo '{"timeZone": "Europe/Berlin", "week": {"mon-fri": ["09:00-17:00"]},
                     "dates": {"2026-12-25/2026-12-26": []}}' \\
                | timerd calendars put berlin -
              timerd calendars open berlin
              timerd calendars list
              timerd calendars delete berlin
            """,
        subcommands: [
            CalendarPut.self, CalendarGet.self, CalendarList.self, CalendarDelete.self, CalendarOpen.self,
        ])
}

/// `timerd calendars put`.
struct CalendarPut: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Make a calendar, or replace it, by a file of JSON.",
        discussion: """
            A calendar that is like the file already stays as it is.

              timerd calendars put berlin berlin.json
              timerd calendars get berlin --json | jq '.dates["2026-12-24"] = []' \\
                | timerd calendars put berlin -
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The calendar's name.", completion: Completions.calendars) var name: String
    @Argument(help: "The file; - is standard input.", completion: .file()) var file: String

    func run() throws {
        let request = HTTPRequest(
            .put, RequestTarget("v1", "calendars", name).text, headers: [("Content-Type", "application/json")],
            body: try InputFile(file).readAll(limit: JSONText.limit))
        let response = try client.client().send(request)
        let verb = response.status == 201 ? "made" : "set"
        try client.print(response) { Printable.text("\(name): \(verb), version \($0["version"] ?? "?")") }
    }
}

/// `timerd calendars get`.
struct CalendarGet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show calendars, each with all that it is.",
        discussion: """
              timerd calendars get berlin
              timerd calendars get berlin --json > berlin.json
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The calendar's name; may repeat.", completion: Completions.calendars) var name: [String]

    func run() throws {
        let service = try client.client()
        try EachID.run(name) { (name) throws(Failure) in
            let response = try service.send(HTTPRequest(.get, RequestTarget("v1", "calendars", name).text))
            try client.print(response) { TimerText.details($0) + (self.name.count > 1 ? "\n" : "") }
        }
    }
}

/// `timerd calendars list`.
struct CalendarList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List calendars.",
        discussion: """
            By name. One page unless --all; if there is more, the last line on stderr says how to go on.

              timerd calendars list
              timerd calendars list --all --json | jq -r '.calendars[].name'
            """)

    @OptionGroup var client: ClientOptions
    @Option(help: ArgumentHelp("Most calendars a page, 1 to 1000", valueName: "n")) var limit: String?
    @Option(help: ArgumentHelp("Go on at the end of a page", valueName: "cursor")) var cursor: String?
    @Flag(help: "Every page.") var all = false

    /// The columns of a list of calendars, and how it fits a narrow terminal.
    private static let table = TextTable(
        titles: ["NAME", "TIME ZONE", "DATES", "VERSION", "CHANGED"],
        narrowings: [.drop("CHANGED"), .cut("NAME", to: 12)])

    func run() throws {
        let service = try client.client()
        try Paging(cursor: cursor, all: all, json: client.json).run(service, items: "calendars", target) { calendars in
            Self.table.lines(
                calendars.map(Self.row), width: Terminal.size?.columns,
                isColoured: Terminal.hasColours(Environment.current))
        }
    }

    private func target(_ cursor: String?) -> String {
        var target = RequestTarget("v1", "calendars")
        target.add("limit", limit)
        target.add("cursor", cursor)
        return target.text
    }

    private static func row(_ calendar: JSONObject) -> [TextTable.Cell] {
        [
            .init(calendar["name"]), .init(calendar["timeZone"]),
            .init(calendar.object("dates").map { String($0.names.count) }), .init(calendar["version"]),
            .init(calendar["updatedAt"].map(ShortTime.second)),
        ]
    }
}

/// `timerd calendars delete`.
struct CalendarDelete: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete calendars.",
        discussion: """
              timerd calendars delete berlin
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The calendar's name; may repeat.", completion: Completions.calendars) var name: [String]

    func run() throws {
        let service = try client.client()
        try EachID.run(name) { (name) throws(Failure) in
            _ = try service.send(HTTPRequest(.delete, RequestTarget("v1", "calendars", name).text))
            if !client.json { Console.out(Printable.text("\(name): deleted")) }
        }
    }
}

/// `timerd calendars open`.
struct CalendarOpen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Show the open hours of a calendar, in UTC: those of the next seven days, or of --from and --until.",
        discussion: """
              timerd calendars open berlin
              timerd calendars open berlin --from 2026-12-21T00:00:00+01:00 \\
                --until 2027-01-04T00:00:00+01:00
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The calendar's name.", completion: Completions.calendars) var name: String
    @Option(help: ArgumentHelp("An RFC 3339 instant; else now", valueName: "instant")) var from: String?
    @Option(help: ArgumentHelp("An RFC 3339 instant; else seven days later", valueName: "instant")) var until: String?

    func run() throws {
        var target = RequestTarget("v1", "calendars", name, "open")
        target.add("from", from)
        target.add("until", until)
        let response = try client.client().send(HTTPRequest(.get, target.text))
        if client.json {
            Console.out(bytes: response.body + [0x0a])
            return
        }
        let answer = try JSONObject(response)
        let open = answer.objects("open")
        if open.isEmpty { return Console.error("\(Printable.text(name)): closed all that time") }
        for interval in open {
            let ends = [interval["from"], interval["until"]].compactMap { $0.map(ShortTime.second) }
            guard Console.out(Printable.text(ends.joined(separator: "  "))) else { return }
        }
        if let next = answer["next"] { Console.error("more: --from \(Printable.text(next))") }
    }
}
