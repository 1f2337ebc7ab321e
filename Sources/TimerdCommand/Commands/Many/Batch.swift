import ArgumentParser

/// `timerd batch`.
struct Batch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create, command and delete many timers by lines of JSON.",
        discussion: """
            A line is what `timerd create --body` takes, or a command: {"command": "cancel", "id": "tea"}, also with \
            "delete". They are sent in parts of at most 10,000 lines and 16 MiB and apply in order, each by itself: a line \
            that is refused is named on stderr, and the others stand. Exits 1 where any was refused. With --json the server's \
            answers are printed, a line for each line; blank lines get none.

            With --idempotency-key a batch that was cut off can be sent again as a whole: what stands is not done twice.

              timerd batch timers.ndjson
              timerd list --all --json | jq -c '.timers[] | {command: "cancel", id}' | timerd batch -
              timerd batch timers.ndjson --idempotency-key import-2026-11-21
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: ArgumentHelp("The file; - for standard input", valueName: "file"), completion: .file())
    var file: String
    @Option(help: ArgumentHelp("Makes it safe to send again; each part adds its number to it", valueName: "key"))
    var idempotencyKey: String?

    func run() throws {
        var lines = BatchLines(try InputFile(file))
        var sender = BatchSender(try client.client(), key: idempotencyKey, json: client.json)
        while let part = try lines.next() { try sender.send(part) }
        sender.end()
        if sender.refused > 0 {
            throw Failure(
                .other, "\(sender.refused) of \(sender.sent) lines refused, \(sender.sent - sender.refused) done")
        }
        if !client.json { Console.out("\(sender.sent) lines done") }
    }
}
