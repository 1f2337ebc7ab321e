import ArgumentParser
import HTTPClient
import WireJSON

/// `timerd redrive`.
struct Redrive: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have dead letters delivered anew: one, or all of a timer or with labels.",
        discussion: """
            Where --timer and --label both stand, both must match. Those whose timer has no webhook any more are skipped.

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
        var writer = JSONWriter()
        writer.beginObject()
        if let timer {
            writer.key("timer")
            writer.string(timer)
        }
        if !label.isEmpty { try LabelText.write(label, to: &writer) }
        writer.endObject()
        var target = RequestTarget("v1", "deliveries", "redrive")
        target.add("dryRun", dryRun ? "true" : nil)
        let response = try client.client().send(.post(target.text, json: writer.bytes))
        let done = dryRun ? "would be redriven" : "redriven"
        try client.print(response) { counts in
            Printable.text("\(counts["changed"] ?? "?") \(done), \(counts["skipped"] ?? "?") skipped")
        }
    }
}
