import ArgumentParser
import HTTPClient

/// `timerd list`.
struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List timers, what fires next first.",
        discussion: """
            Watchdogs that alarm come first, then what fires next, then timers without a planned fire. One page unless \
            --all; where there is more, the last line on stderr says how to go on. With --json pages come as the server \
            makes them, in its order unless --sort nextFireAt, which leaves out timers without a planned fire.

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
    @Option(help: ArgumentHelp("Go on where a page ended", valueName: "cursor")) var cursor: String?
    @Flag(help: "Every page.") var all = false
    @Flag(help: "Show the list anew each second until Ctrl-C; needs a terminal.") var watch = false

    /// The number of timers on a page without `--limit`.
    static let defaultLimit = 100

    func run() throws {
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
