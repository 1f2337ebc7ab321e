import ArgumentParser
import HTTPClient
import Platform

/// `timerd deliveries list`.
struct DeliveryList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what is on its way to webhooks, and what was given up.",
        discussion: """
            Oldest first. WHY is why the last attempt failed, LAST when that was, NEXT when it is attempted again or, of a \
            dead letter, when it is forgotten. One page unless --all; where there is more, the last line on stderr says how \
            to go on.

              timerd deliveries list --state dead
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
    @Option(help: ArgumentHelp("Most deliveries a page, 1 to 1000", valueName: "n")) var limit: String?
    @Option(help: ArgumentHelp("Go on where a page ended", valueName: "cursor")) var cursor: String?
    @Flag(help: "Every page.") var all = false

    func run() throws {
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
        target.add("limit", limit)
        target.add("cursor", cursor)
        return target.text
    }
}
