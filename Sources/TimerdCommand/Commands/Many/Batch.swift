import ArgumentParser
import HTTPClient

/// `timerd batch`.
struct Batch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create, command and delete many timers by lines of JSON.",
        discussion: """
            A line is what `timerd create --body` takes, or a command: {"command": "cancel", "id": "tea"}, also with \
            "delete". Lines are sent in parts of at most 10,000 lines and 16 MiB and apply in order, each by itself: a \
            line that is refused is named on stderr, and the others are done. Exits 1 if any was refused. With --json \
            the server's answers are printed, a line for each line; blank lines get none.

            With --idempotency-key a batch that was cut off can be sent again as a whole: no line is done twice.

              timerd batch timers.ndjson
              timerd list --all --json | jq -c '.timers[] | {command: "cancel", id}' \\
                | timerd batch -
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

/// Sends the parts of a batch and reports which lines were refused.
struct BatchSender {
    /// The number of lines that were answered.
    private(set) var sent = 0
    /// The number of answered lines that were refused.
    private(set) var refused = 0
    private let service: ServiceClient
    private let key: String?
    private let json: Bool
    private var parts = 0
    private var progress = Progress()

    /// - Parameters:
    ///   - key: the idempotency key, to which each part adds its number; nil for none.
    ///   - json: whether to print the answers.
    init(_ service: ServiceClient, key: String?, json: Bool) {
        self.service = service
        self.key = key
        self.json = json
    }

    /// Sends a part and reads the result of each of its lines.
    ///
    /// - Throws: where the part as a whole got no answer, or was refused.
    mutating func send(_ part: BatchLines.Part) throws(Failure) {
        parts += 1
        var headers = [(name: "Content-Type", value: "application/x-ndjson")]
        if let key { headers.append(("Idempotency-Key", "\(key)-\(parts)")) }
        var target = RequestTarget("v1", "timers", "batch")
        target.add("results", "brief")
        let response: HTTPResponse
        do throws(Failure) {
            response = try service.send(HTTPRequest(.post, target.text, headers: headers, body: part.bytes))
        } catch {
            progress.end()
            let lines = "lines \(part.numbers.first ?? 0) to \(part.numbers.last ?? 0)"
            throw Failure(error.code, "\(lines): \(error.line); \(sent - refused) lines before them are done")
        }
        let results = response.body.split(separator: 0x0a).map { Array($0) }.filter { !$0.isEmpty }
        guard results.count == part.numbers.count else {
            throw Failure(.other, "\(results.count) answers for \(part.numbers.count) lines: is it timerd?")
        }
        for (number, result) in zip(part.numbers, results) { try take(result, number) }
        if json { Console.out(bytes: results.flatMap { $0 + [0x0a] }) }
        let (sent, refused) = (sent, refused)
        progress.show("\(sent) lines, \(refused) refused")
    }

    /// Wipes the line that shows the progress.
    mutating func end() { progress.end() }

    private mutating func take(_ result: [UInt8], _ number: Int) throws(Failure) {
        guard let object = JSONObject(result), let status = object["status"].flatMap({ Int($0) }) else {
            throw Failure(.other, "the answer to line \(number) is no result: is it timerd?")
        }
        sent += 1
        guard status >= 400 else { return }
        refused += 1
        progress.end()
        let reason = object.object("problem").map { ProblemText.line($0, status: status) } ?? "\(status)"
        Console.error("timerd: line \(number): \(reason)")
    }
}
