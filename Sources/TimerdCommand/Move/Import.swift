import ArgumentParser

/// `timerd import`.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take the timers of an export over.",
        discussion: """
            The lines go to the server in parts, each of which is done once: an import that broke off is begun again with the \
            same file and goes on where it was. What came due meanwhile fires at once, each timer by its misfire policy.

              timerd import timers.ndjson
              timerd export --drain - | timerd import --server http://new:8080 -
            """)

    @OptionGroup var client: ClientOptions
    @Option(
        help: ArgumentHelp("What becomes of a timer whose id is taken: fail, skip or replace", valueName: "policy"),
        completion: .list(["fail", "skip", "replace"]))
    var onConflict = "fail"
    @Flag(help: "Take the export of a server that was not drained: its timers fire on both.") var copy = false
    @Flag(help: "Stop webhooks whose secrets are masked in the export.") var dropSecrets = false
    @Argument(help: ArgumentHelp("The file; - for standard input", valueName: "file"), completion: .file())
    var file: String

    func run() throws {
        guard ["fail", "skip", "replace"].contains(onConflict) else {
            throw Failure(.usage, "--on-conflict is fail, skip or replace")
        }
        var lines = BatchLines(try InputFile(file))
        var sender = ImportSender(
            try client.client(), onConflict: onConflict, copies: copy, dropsSecrets: dropSecrets)
        while let part = try lines.next() { try sender.send(part) }
        let counts = try sender.end()
        Console.out(client.json ? counts.json : counts.text)
    }
}
