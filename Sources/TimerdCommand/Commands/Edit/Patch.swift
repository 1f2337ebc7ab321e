import ArgumentParser
import HTTPClient

/// `timerd patch`.
struct Patch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change timers by a JSON merge patch.",
        discussion: """
            The patch (RFC 7396) names what changes; null takes a field away. A change of the schedule counts the full \
            period from now on. --body takes JSON, @file or - for standard input.

              timerd patch tea --body '{"labels": {"team": "blue"}, "payload": null}'
              timerd patch tea --body '{"after": null, "every": "1h"}'
              timerd patch tea --body @patch.json --if-match '"v3"'
            """)

    /// The media type of a patch.
    static let contentType = [(name: "Content-Type", value: "application/merge-patch+json")]

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; may repeat.", completion: Completions.timers) var id: [String]
    @Option(help: ArgumentHelp("The patch", valueName: "json|@file|-")) var body: String
    @Option(help: ArgumentHelp("Only where this is its ETag: '\"v3\"' for version 3", valueName: "etag"))
    var ifMatch: String?

    func run() throws {
        let patch = try JSONText.read(body, flag: "--body")
        let service = try client.client()
        let headers = Self.contentType + (ifMatch.map { [("If-Match", $0)] } ?? [])
        try EachID.run(id) { (id) throws(Failure) in
            let target = RequestTarget("v1", "timers", id)
            try client.printTimer(HTTPRequest(.patch, target.text, headers: headers, body: patch), by: service)
        }
    }
}
