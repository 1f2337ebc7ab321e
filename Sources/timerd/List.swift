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
        var cursor = cursor
        var isFirst = true
        repeat {
            let response = try service.send(HTTPRequest(.get, target(cursor)))
            let page = try Answer(response)
            let timers = page.objects("timers")
            if client.json {
                Console.out(bytes: response.body + [0x0a])
            } else if !timers.isEmpty || (isFirst && !all) {
                guard Console.out(TimerText.table(timers)) else { return }
            }
            isFirst = false
            cursor = page["next"]
        } while all && cursor != nil
        if let cursor, !client.json { Console.error("more: --cursor \(Printable.text(cursor))") }
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
