import ArgumentParser
import Glibc
import HTTPClient
import Platform
import WireJSON

/// `timerd list`.
struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List timers, those that fire next first.",
        discussion: """
            Watchdogs that alarm come first, then timers by their next fire, then timers without a planned fire. One \
            page unless --all; if there is more, the last line on stderr says how to go on. With --json pages come as \
            the server makes them, in its order unless --sort nextFireAt, which leaves out timers without a planned \
            fire.

            On a terminal lines are cut to its width and coloured; NO_COLOR=1 leaves the colours out.

              timerd list
              timerd list --state running,suspended --label team=blue
              timerd list --health stalled
              timerd list --watch
              timerd list --all --json | jq -r '.timers[].id'
            """)

    @OptionGroup var client: ClientOptions
    @OptionGroup var filter: TimerFilter
    @Option(
        help: ArgumentHelp("nextFireAt: only what has a planned fire, soonest first", valueName: "order"),
        completion: .list(["nextFireAt"]))
    var sort: String?
    @Option(help: ArgumentHelp("Most timers a page, 1 to 1000, default 100", valueName: "n")) var limit: String?
    @Option(help: ArgumentHelp("Go on at the end of a page", valueName: "cursor")) var cursor: String?
    @Flag(help: "Every page.") var all = false
    @Flag(help: "Show the list again each second until Ctrl-C; needs a terminal.") var watch = false

    /// The number of timers on a page without `--limit`.
    static let defaultLimit = 100

    func run() throws {
        try LabelText.check(filter.label)
        let listing = TimerListing(filter: filter)
        if watch {
            guard !client.json, !all, sort == nil, cursor == nil, limit == nil else {
                throw Failure(
                    .usage,
                    "--watch shows what fits the terminal: it goes with none of --json, --all, --sort, "
                        + "--limit and --cursor")
            }
            return try ListWatch(listing: listing, client: client).run()
        }
        let service = try client.client()
        let place = cursor.flatMap { TimerListing.Place($0) }
        if client.json || sort != nil || cursor != nil && place == nil {
            try Paging(cursor: cursor, all: all, json: client.json).run(service, items: "timers", target, Self.lines)
        } else {
            try show(listing, service, from: place)
        }
    }

    /// Returns the lines of a table of timers that fits the terminal.
    static func lines(_ timers: [JSONObject]) -> [String] {
        TimerText.table.lines(
            timers.map(TimerText.row), width: Terminal.size?.columns,
            isColoured: Terminal.hasColours(Environment.current))
    }

    private func show(_ listing: TimerListing, _ service: ServiceClient, from start: TimerListing.Place?)
        throws(Failure)
    {
        let size = all ? TimerListing.pageLimit : try pageSize()
        var place = start
        var isFirst = true
        repeat {
            let part = try listing.timers(service, from: place, limit: size)
            place = part.next
            if !part.timers.isEmpty {
                guard Console.out(Self.lines(part.timers).joined(separator: "\n")) else { return }
            } else if isFirst {
                Console.error("no timers")
            }
            isFirst = false
        } while all && place != nil
        if let place { Console.error("more: --cursor \(Printable.text(place.text))") }
    }

    private func pageSize() throws(Failure) -> Int {
        guard let limit else { return Self.defaultLimit }
        guard let size = Int(limit), (1...TimerListing.pageLimit).contains(size) else {
            throw Failure(.usage, "--limit \(Printable.text(limit)): expected 1 to \(TimerListing.pageLimit)")
        }
        return size
    }

    private func target(_ cursor: String?) -> String {
        var target = filter.target(states: filter.state, health: filter.health)
        target.add("sort", sort)
        target.add("limit", limit)
        target.add("cursor", cursor)
        return target.text
    }
}

/// Prints the pages of a list.
struct Paging {
    /// The cursor to begin at; nil for the first page.
    var cursor: String?
    /// Whether to go on to the last page.
    var all: Bool
    /// Whether to print the server's JSON as it came, a page a line.
    var json: Bool

    /// Gets pages and prints them.
    ///
    /// - Parameters:
    ///   - items: the member of a page that holds its items.
    ///   - target: makes the request's target from a cursor.
    ///   - table: shows items to a person.
    func run(
        _ service: ServiceClient, items: StaticString, _ target: (String?) -> String,
        _ table: ([JSONObject]) -> [String]
    ) throws(Failure) {
        var cursor = cursor
        var isFirst = true
        repeat {
            let response = try service.send(HTTPRequest(.get, target(cursor)))
            let page = try JSONObject(response)
            let found = page.objects(items)
            if json {
                guard Console.out(bytes: response.body + [0x0a]) else { return }
            } else if !found.isEmpty || (isFirst && !all) {
                guard Console.out(table(found).joined(separator: "\n")) else { return }
            }
            isFirst = false
            cursor = page["next"]
        } while all && cursor != nil
        if let cursor, !json { Console.error("more: --cursor \(Printable.text(cursor))") }
    }
}

/// `timerd list --watch`: the list on a terminal, drawn again each second, as often as its countdowns change.
struct ListWatch {
    let listing: TimerListing
    let client: ClientOptions

    /// Milliseconds between two drawings.
    private static let periodMs: Int64 = 1000
    /// The lines around the table: the head, and `…` where timers are left out.
    private static let framing = 2

    /// Draws the list until Ctrl-C, which ends the program. A failure that may pass, such as a restart of the
    /// server, is shown, and the server is asked again.
    ///
    /// - Throws: where standard output is no terminal, or the server refuses.
    func run() throws(Failure) {
        guard Terminal.isOutput else {
            throw Failure(.usage, "--watch needs a terminal; `timerd watch` prints a line for each event")
        }
        let service = try client.client()
        Console.out(bytes: Array("\u{1b}[2J".utf8))
        while draw(try lines(service)) {
            let past = Clocks.realtime() / 1_000_000 % Self.periodMs
            usleep(UInt32(Self.periodMs - past) * 1000)
        }
    }

    private func lines(_ service: ServiceClient) throws(Failure) -> [String] {
        let size = Terminal.size ?? (80, 24)
        let room = max(1, size.lines - Self.framing - 1)
        let now = RFC3339.text(Clocks.realtime() / 1_000_000)
        let head = "\(service.address)  \(ShortTime.second(now))  Ctrl-C ends"
        do throws(Failure) {
            let part = try listing.timers(service, from: nil, limit: room)
            let table = part.timers.isEmpty ? ["no timers"] : List.lines(part.timers)
            return [cut(head, size.columns)] + table + (part.next == nil ? [] : ["…"])
        } catch {
            guard error.isTransient else { throw error }
            return [cut(head, size.columns), cut(error.line, size.columns)]
        }
    }

    private func cut(_ line: String, _ width: Int) -> String { String(Printable.text(line).prefix(width)) }

    /// Draws over the lines that are there, so that nothing flickers, and clears the rest.
    private func draw(_ lines: [String]) -> Bool {
        let text = "\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J"
        return Console.out(bytes: Array(text.utf8))
    }
}
