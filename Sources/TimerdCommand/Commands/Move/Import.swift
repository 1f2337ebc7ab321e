import ArgumentParser
import Glibc
import HTTPClient

/// `timerd import`.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take the timers of an export over.",
        discussion: """
            The lines go to the server in parts, each of which is done once: an import that broke off is begun again \
            with the same file and goes on where it was. Timers that came due meanwhile fire at once, each by its \
            misfire policy.

              timerd import timers.ndjson
              timerd export --drain - | timerd import --server http://new:8080 -
            """)

    @OptionGroup var client: ClientOptions
    @Option(
        help: ArgumentHelp("On a timer whose id is taken: fail, skip or replace", valueName: "policy"),
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

/// Sends the parts of an export to a server, each until it is applied.
struct ImportSender {
    /// The totals over the parts that this run sent; parts applied before are not counted.
    struct Counts {
        var timers = 0
        var deliveries = 0
        var skipped = 0
        /// Whether the whole export was imported before, so that nothing of it was sent.
        var isRepeat = false

        /// The totals in words, for a person.
        var text: String {
            "\(timers) timers and \(deliveries) deliveries imported"
                + (skipped == 0 ? "" : ", \(skipped) lines skipped")
                + (isRepeat ? "; the whole export was imported before" : "")
        }

        /// The totals as JSON.
        var json: String { "{\"timers\":\(timers),\"deliveries\":\(deliveries),\"skipped\":\(skipped)}" }
    }

    /// The most times that one part is sent, if it gets no answer or a failure that may pass.
    private static let attempts = 8
    /// The pause before a part is sent again, in milliseconds; it doubles each time.
    private static let firstPauseMs: UInt32 = 200

    private let service: ServiceClient
    private let parameters: [(name: String, value: String)]
    private var export: String?
    private var part = 0
    /// The number of the first part that no earlier run of this import applied; parts before it are not sent.
    private var next = 0
    private var lines = 0
    private var counts = Counts()
    private var isComplete = false
    private var progress = Progress()

    init(_ service: ServiceClient, onConflict: String, copies: Bool, dropsSecrets: Bool) {
        self.service = service
        parameters =
            [("onConflict", onConflict)] + (copies ? [("copy", "true")] : [])
            + (dropsSecrets ? [("secrets", "drop")] : [])
    }

    /// Sends the next part, unless it was applied before.
    mutating func send(_ lines: BatchLines.Part) throws(Failure) {
        if export == nil { try begin(lines) }
        defer {
            part += 1
            self.lines += lines.numbers.count
        }
        let (sent, count) = (self.lines, lines.numbers.count)
        guard part >= next else { return }
        progress.show("\(sent) lines")
        var left = Self.attempts
        var pauseMs = Self.firstPauseMs
        while true {
            do throws(Failure) { return try take(try service.exchange(request(lines)), lines) } catch {
                left -= 1
                guard error.isTransient, left > 0 else {
                    progress.end()
                    let place = "lines \(sent + 1) to \(sent + count)"
                    throw Failure(error.code, "\(place): \(error.line); \(sent) lines before them are imported")
                }
            }
            usleep(pauseMs * 1000)
            pauseMs *= 2
        }
    }

    /// Asks the server how far it has come with the import whose first part is `lines`.
    private mutating func begin(_ lines: BatchLines.Part) throws(Failure) {
        let first = lines.bytes.prefix { $0 != 0x0a }
        guard let id = JSONObject(Array(first))?["export"] else {
            throw Failure(.usage, "this is no export: its first line has no `export`")
        }
        export = id
        let response = try service.send(HTTPRequest(.get, RequestTarget("v1", "import", id).text))
        let state = try JSONObject(response)
        next = state["next"].flatMap { Int($0) } ?? 0
        isComplete = state["complete"] == "true"
        counts.isRepeat = isComplete
    }

    private func request(_ lines: BatchLines.Part) -> HTTPRequest {
        var target = RequestTarget("v1", "import")
        target.add("export", export)
        target.add("part", String(part))
        for parameter in parameters { target.add(parameter.name, parameter.value) }
        return HTTPRequest(
            .post, target.text, headers: [("Content-Type", "application/x-ndjson")], body: lines.bytes)
    }

    private mutating func take(_ response: HTTPResponse, _ lines: BatchLines.Part) throws(Failure) {
        guard response.status == 200, let result = JSONObject(response.body) else {
            var failure = Failure(response)
            // A request whose answer did not come in time may still be under way.
            let type = JSONObject(response.body)?["type"]
            failure.isTransient = failure.isTransient || type == "/problems/idempotency-in-progress"
            if let line = JSONObject(response.body)?["line"].flatMap({ Int($0) }),
                lines.numbers.indices.contains(line - 1)
            {
                failure.line = "line \(lines.numbers[line - 1]): \(failure.line)"
            }
            throw failure
        }
        counts.timers += result["timers"].flatMap { Int($0) } ?? 0
        counts.deliveries += result["deliveries"].flatMap { Int($0) } ?? 0
        counts.skipped += result["skipped"].flatMap { Int($0) } ?? 0
        isComplete = result["complete"] == "true"
    }

    /// Returns the totals, once every part was sent.
    ///
    /// - Throws: where the export has no last line.
    mutating func end() throws(Failure) -> Counts {
        progress.end()
        guard isComplete else {
            throw Failure(.other, "the export has no last line, so it is not whole; \(lines) lines of it are imported")
        }
        return counts
    }
}
