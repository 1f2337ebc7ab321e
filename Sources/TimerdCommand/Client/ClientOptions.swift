import ArgumentParser
import HTTPClient

/// The flags that every client command takes.
struct ClientOptions: ParsableArguments {
    @Option(name: Setting.server.name, help: Setting.server.help) var server: String?
    @Option(name: Setting.token.name, help: Setting.token.help) var token: String?
    @Option(
        name: Setting.tokenFile.name,
        help: ArgumentHelp(
            "A file of tokens, whose first one is used; --token wins [\(Setting.tokenFile.variable)]",
            valueName: Setting.tokenFile.value), completion: .file())
    var tokenFile: String?
    @Flag(help: "Print the server's JSON as it came.") var json = false

    /// The time that an answer may take, in milliseconds: more than the server's own wait for a slow disk.
    static let timeoutMs = 30_000

    /// Makes a client of the server that the flags name.
    func client() throws(Failure) -> ServiceClient {
        try flags.client(timeoutMs: Self.timeoutMs)
    }

    /// The flags that name the server and the token, for a further connection.
    var flags: ClientFlags { ClientFlags(server: server, token: token, tokenFile: tokenFile) }

    /// Sends a request that is answered with a timer, and prints it.
    func printTimer(_ request: HTTPRequest, by service: ServiceClient) throws(Failure) {
        let response = try service.send(request)
        try print(response) { TimerText.line($0) }
    }

    /// Prints an answer as it came, or as `text` shows it to a person.
    func print(_ response: HTTPResponse, _ text: (JSONObject) -> String) throws(Failure) {
        if json {
            Console.out(bytes: response.body + [0x0a])
        } else {
            Console.out(text(try JSONObject(response)))
        }
    }
}
