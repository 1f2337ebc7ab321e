import ArgumentParser
import HTTPClient

/// `timerd health`.
struct Health: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a server whether it is healthy.",
        discussion: """
            Exits 0 when it is, 1 when it is not or does not answer within 2 seconds. Needs no token.

              timerd health
              timerd health --server unix:/run/timerd.sock
            """)

    /// How long the server may take, in milliseconds.
    static let timeoutMs = 2000

    @Option(name: Setting.server.name, help: Setting.server.help) var server: String?

    func run() throws {
        let client = try ServiceClient(server: server, token: nil, Environment(), timeoutMs: Self.timeoutMs)
        let response = try client.exchange(HTTPRequest(.get, "/healthz"))
        guard response.status == 200 else {
            throw Failure(.other, "\(client.address) is not healthy: \(ProblemText.line(response))")
        }
        Console.out("\(client.address) is healthy")
    }
}
