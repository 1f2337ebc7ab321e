import ArgumentParser
import HTTPClient
import Platform
import WireJSON

/// `timerd keys create`.
struct KeyCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a key, and print its secret, which is shown this once.",
        discussion: """
            The secret is alone on stdout; a line on stderr has the key's id. read is to read timers, events and \
            deliveries; kick to kick watchdogs; write to change timers, with both; admin to manage keys, drain, export and \
            import, with all. A key's scopes and prefix never change. With --id-prefix a key is for single timers whose ids \
            begin so: it can't list.

              timerd keys create cron-job --scope kick --expires 90d
              timerd keys create dashboard --scope read
              timerd keys create team-blue --scope write --id-prefix blue.
              TIMERD_TOKEN=$(timerd keys create once --scope write --expires 1h) \\
                timerd create tea --after 4m
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The name that people have for the key.") var name: String
    @Option(
        help: ArgumentHelp(
            "A right: read, kick, write or admin; commas between several, may repeat", valueName: "scope"),
        completion: Completions.scopes)
    var scope: [String]
    @Option(help: ArgumentHelp("Only for timers whose ids begin so; not with admin", valueName: "text"))
    var idPrefix: String?
    @Option(
        help: ArgumentHelp(
            "When the key ends: that long from now, or at an RFC 3339 instant; else never",
            valueName: "duration|instant"))
    var expires: String?

    func run() throws {
        let response = try client.client().send(.post(RequestTarget("v1", "keys").text, json: body))
        try KeySecretText.print(response, client) { "key \($0["id"] ?? "?") made; its secret is shown this once" }
    }

    private var body: [UInt8] {
        let expiresAt = expires.map { Self.instant($0, now: Clocks.realtime() / 1_000_000) }
        return JSONWriter.object { writer in
            BodyField("name", name).write(to: &writer)
            writer.beginArray("scopes")
            for words in scope {
                for word in words.split(separator: ",", omittingEmptySubsequences: false) {
                    writer.string(String(word))
                }
            }
            writer.endArray()
            BodyField("idPrefix", idPrefix).write(to: &writer)
            BodyField("expiresAt", expiresAt).write(to: &writer)
        }
    }

    /// Returns the instant that is a duration after `now`, in wall milliseconds. Text that is no duration is returned as
    /// it is, for the server to judge.
    static func instant(_ text: String, now: Int64) -> String {
        do throws(TextError) {
            let milliseconds = try DurationText.parse(Array(text.utf8))
            var instant: [UInt8] = []
            RFC3339.append(now + milliseconds, to: &instant)
            return String(decoding: instant, as: UTF8.self)
        } catch {
            return text
        }
    }
}

/// `timerd keys rotate`.
struct KeyRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give a key a new secret, and print it; the one before ends at once, or after --overlap.",
        discussion: """
            The secret is alone on stdout. Only the two newest secrets of a key are ever good.

              timerd keys rotate p4itmmwg3jee
              timerd keys rotate p4itmmwg3jee --overlap 24h
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The key's id.", completion: Completions.keys) var id: String
    @Option(help: ArgumentHelp("How long the secret before stays good, default 0s", valueName: "duration"))
    var overlap: String?

    func run() throws {
        let body = JSONWriter.object { writer in BodyField("overlap", overlap).write(to: &writer) }
        let target = RequestTarget("v1", "keys", id, "rotate")
        let response = try client.client().send(.post(target.text, json: body))
        try KeySecretText.print(response, client) { key in
            let before = overlap.map { "the one before ends \($0) from now" } ?? "the one before has ended"
            return "key \(key["id"] ?? "?") has a new secret, which is shown this once; \(before)"
        }
    }
}

/// The answer with a new secret.
enum KeySecretText {
    /// Prints the secret alone on stdout, for a script to take, and a sentence on stderr; with `--json` the answer as it
    /// came.
    static func print(
        _ response: HTTPResponse, _ client: ClientOptions, _ sentence: (JSONObject) -> String
    ) throws(Failure) {
        let key = try JSONObject(response)
        guard let secret = key["secret"] else {
            throw Failure(.other, "the server's answer has no secret: is it timerd?")
        }
        // The id comes first: a secret that can't be written is lost, and its key is to be revoked.
        if !client.json { Console.error(Printable.text(sentence(key))) }
        try client.print(response) { _ in Printable.text(secret) }
    }
}
