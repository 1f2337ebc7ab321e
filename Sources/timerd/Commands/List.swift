import ArgumentParser
import HTTPClient

/// `timerd list`.
struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List timers.",
        discussion: """
            One page unless --all. Where there is more, the last line on stderr says how to go on.

              timerd list
              timerd list --state running,suspended --label team=blue
              timerd list --sort nextFireAt --limit 10
              timerd list --all --json | jq -r '.timers[].id'
            """)

    @OptionGroup var client: ClientOptions
    @Option(help: ArgumentHelp("Only in these states", valueName: "state,…")) var state: String?
    @Option(help: ArgumentHelp("Only of these kinds", valueName: "kind,…")) var kind: String?
    @Option(help: ArgumentHelp("Only with this label; may repeat", valueName: "key=value")) var label: [String] = []
    @Option(help: ArgumentHelp("nextFireAt: soonest due first", valueName: "order")) var sort: String?
    @Option(help: ArgumentHelp("Most timers a page, 1 to 1000", valueName: "n")) var limit: String?
    @Option(help: ArgumentHelp("Go on where a page ended", valueName: "cursor")) var cursor: String?
    @Flag(help: "Every page.") var all = false

    func run() throws {
        let service = try client.client()
        try Paging(cursor: cursor, all: all, json: client.json).run(service, items: "timers", target) {
            TimerText.table($0)
        }
    }

    private func target(_ cursor: String?) -> String {
        var target = RequestTarget("v1", "timers")
        target.add("state", state)
        target.add("kind", kind)
        for label in label { target.add("label", label) }
        target.add("sort", sort)
        target.add("limit", limit)
        target.add("cursor", cursor)
        return target.text
    }
}
