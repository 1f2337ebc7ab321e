import ArgumentParser
import HTTPClient
import Platform
import WireJSON

/// `timerd deliveries …`.
struct Deliveries: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List pending deliveries and dead letters; redrive or drop dead letters.",
        discussion: """
            Without a subcommand it lists; `timerd deliveries list --help` has the flags.

              timerd deliveries
              timerd deliveries --state dead
              timerd deliveries redrive --timer tea
              timerd deliveries drop 1927624203398283269
            """,
        subcommands: [DeliveryList.self, Redrive.self, DeliveryDrop.self], defaultSubcommand: DeliveryList.self)
}

/// `timerd deliveries list`.
struct DeliveryList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List pending deliveries and dead letters.",
        discussion: """
            Oldest first. WHY is the cause of the last failed attempt, LAST its instant, NEXT the instant of \
            the next attempt or, for a dead letter, of its removal. One page unless --all; if there is more, \
            the last line on stderr says how to go on.

              timerd deliveries list --state dead
              timerd deliveries list --host hooks.example.com
              timerd deliveries list --timer tea --all --json | jq -r '.deliveries[].id'
            """)

    @OptionGroup var client: ClientOptions
    @Option(
        help: ArgumentHelp("Only in these states: pending, dead", valueName: "state,…"),
        completion: Completions.deliveryStates)
    var state: String?
    @Option(help: ArgumentHelp("Only this timer's", valueName: "id"), completion: Completions.timers) var timer: String?
    @Option(help: ArgumentHelp("Only those whose events had this label; may repeat", valueName: "key=value"))
    var label: [String] = []
    @Option(help: ArgumentHelp("Only those to this host, with or without a port", valueName: "host")) var host: String?
    @Option(help: ArgumentHelp("Most deliveries a page, 1 to 1000", valueName: "n")) var limit: String?
    @Option(help: ArgumentHelp("Go on at the end of a page", valueName: "cursor")) var cursor: String?
    @Flag(help: "Every page.") var all = false

    func run() throws {
        try LabelText.check(label)
        let service = try client.client()
        let now = Clocks.realtime() / 1_000_000
        try Paging(cursor: cursor, all: all, json: client.json).run(service, items: "deliveries", target) {
            deliveries in
            DeliveryText.table.lines(
                deliveries.map { DeliveryText.row($0, now: now) }, width: Terminal.size?.columns,
                isColoured: Terminal.hasColours(Environment.current))
        }
    }

    private func target(_ cursor: String?) -> String {
        var target = RequestTarget("v1", "deliveries")
        target.add("state", state)
        target.add("timer", timer)
        for label in label { target.add("label", label) }
        target.add("host", host)
        target.add("limit", limit)
        target.add("cursor", cursor)
        return target.text
    }
}

/// `timerd redrive`.
struct Redrive: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Deliver dead letters again: one, or all of a timer or with labels.",
        discussion: """
            If --timer and --label are both given, both must match. Dead letters whose timer has no webhook any more \
            are skipped.

              timerd redrive 1927624203398283269
              timerd redrive --timer tea
              timerd redrive --label team=blue --dry-run
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The delivery's id; may repeat.", completion: Completions.deliveries) var id: [String] = []
    @Option(help: ArgumentHelp("Every one of this timer", valueName: "id"), completion: Completions.timers)
    var timer: String?
    @Option(help: ArgumentHelp("Every one with this label; may repeat", valueName: "key=value")) var label: [String] =
        []
    @Flag(help: "Only count them.") var dryRun = false

    func run() throws {
        let isSelector = timer != nil || !label.isEmpty
        guard id.isEmpty == isSelector else {
            throw Failure(.usage, "redrive needs ids of deliveries, or --timer, --label or both")
        }
        if isSelector { return try redriveMany() }
        guard !dryRun else { throw Failure(.usage, "--dry-run goes with --timer and --label") }
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            let target = RequestTarget("v1", "deliveries", id, "redrive")
            try client.print(service.send(HTTPRequest(.post, target.text))) { DeliveryText.line($0) }
        }
    }

    private func redriveMany() throws(Failure) {
        let body = try JSONWriter.object { (writer) throws(Failure) in
            if let timer { writer.member("timer", text: timer) }
            if !label.isEmpty { try LabelText.write(label, to: &writer) }
        }
        var target = RequestTarget("v1", "deliveries", "redrive")
        target.add("dryRun", dryRun ? "true" : nil)
        let response = try client.client().send(.post(target.text, json: body))
        let done = dryRun ? "would be redriven" : "redriven"
        try client.print(response) { counts in
            Printable.text("\(counts["changed"] ?? "?") \(done), \(counts["skipped"] ?? "?") skipped")
        }
    }
}

/// `timerd deliveries drop`.
struct DeliveryDrop: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Remove deliveries: they are not attempted again.",
        discussion: """
              timerd deliveries drop 1927624203398283269
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The delivery's id; may repeat.", completion: Completions.deliveries) var id: [String]

    func run() throws {
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            _ = try service.send(HTTPRequest(.delete, RequestTarget("v1", "deliveries", id).text))
            if !client.json { Console.out(Printable.text("\(id): dropped")) }
        }
    }
}

/// Deliveries as a person reads them.
enum DeliveryText {
    /// Returns one line: `1927624203398283269: pending, fired of tea`.
    static func line(_ delivery: JSONObject) -> String {
        let what = "\(delivery["type"] ?? "?") of \(delivery["timer"] ?? "?")"
        return Printable.text("\(delivery["id"] ?? "?"): \(delivery["state"] ?? "?"), \(what)")
    }

    /// The columns of a list of deliveries, and how it fits a narrow terminal.
    ///
    /// `WHY` is why the last attempt failed, and of a dead letter why there is no further one; `LAST` is when that
    /// attempt was, `NEXT` when the next one is or, of a dead letter, when it is forgotten.
    static let table = TextTable(
        titles: ["ID", "STATE", "TIMER", "EVENT", "AT", "TRIES", "WHY", "LAST", "NEXT"],
        narrowings: [.drop("AT"), .cut("TIMER", to: 12), .drop("EVENT"), .drop("TRIES"), .cut("WHY", to: 12)])

    /// Returns a delivery's row in `table`, with instants as seen from `now`, in wall milliseconds.
    static func row(_ delivery: JSONObject, now: Int64) -> [TextTable.Cell] {
        func distance(_ instant: String?) -> String? { instant.map { ShortTime.distance($0, now: now) } }
        let next = distance(delivery["nextAttemptAt"]) ?? distance(delivery["expiresAt"]).map { "expires \($0)" }
        return [
            .init(delivery["id"]), .init(delivery["state"], Colour(state: delivery["state"])), .init(delivery["timer"]),
            .init(delivery["type"]), .init(delivery["at"].map(ShortTime.second)), .init(delivery["attempts"]),
            .init(why(delivery)), .init(distance(delivery["lastAttemptAt"])), .init(next),
        ]
    }

    /// Returns why the last attempt failed, and why it was the last: `status 503`, `timeout, backlog`.
    private static func why(_ delivery: JSONObject) -> String? {
        var parts = [delivery["error"].map { "\($0)" + (delivery["lastStatus"].map { " \($0)" } ?? "") }]
        // The reason `attempts` is left out: a dead letter's attempts have all failed, and TRIES counts them.
        parts.append(delivery["reason"].flatMap { $0 == "attempts" ? nil : $0 })
        parts.append(delivery["timerDeleted"] == "true" ? "timer deleted" : nil)
        let text = parts.compactMap(\.self).joined(separator: ", ")
        return text.isEmpty ? nil : text
    }
}
