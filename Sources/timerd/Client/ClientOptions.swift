import ArgumentParser
import HTTPClient

/// What every client command takes.
struct ClientOptions: ParsableArguments {
    @Option(name: Setting.server.name, help: Setting.server.help) var server: String?
    @Option(name: Setting.token.name, help: Setting.token.help) var token: String?
    @Flag(help: "Print the server's JSON as it came.") var json = false

    /// How long an answer may take, in milliseconds: more than the server's own waiting for a slow disk.
    static let timeoutMs = 30_000

    /// The server to talk to.
    func client() throws(Failure) -> ServiceClient {
        try ServiceClient(server: server, token: token, Environment(), timeoutMs: Self.timeoutMs)
    }

    /// Sends a request that is answered with a timer, and prints it.
    func printTimer(_ request: HTTPRequest) throws(Failure) {
        let response = try client().send(request)
        if json {
            Console.out(bytes: response.body + [0x0a])
        } else {
            Console.out(TimerText.line(try JSONObject(response)))
        }
    }
}
