import ArgumentParser
import HTTPClient
import Platform

/// `timerd health`.
struct Health: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a server whether it is healthy.",
        discussion: """
            Exits 0 when it is, 1 when it is not or does not answer within 2 seconds. Needs no token.

            Without --server it asks the server of the data directory, which keeps a list of its listeners there; \
            where there is none, the server at --listen's variable or default. 0.0.0.0 and [::] are asked on loopback.

              timerd health
              timerd health --data /var/lib/timerd
              timerd health --server unix:/run/timerd.sock
            """)

    /// The time that the server may take, in milliseconds.
    static let timeoutMs = 2000

    @Option(name: Setting.server.name, help: Setting.server.help) var server: String?
    @Option(name: Setting.data.name, help: Setting.data.help) var data: String?

    func run() throws {
        let environment = Environment.current
        guard server == nil || data == nil else {
            throw Failure(.usage, "--\(Setting.server.flag) and --\(Setting.data.flag) both say which server to ask")
        }
        if server != nil || data == nil && environment[Setting.server.variable] != nil {
            return try check(ServiceClient(server: server, token: nil, environment, timeoutMs: Self.timeoutMs))
        }
        let end = Clocks.monotonic() + Int64(Self.timeoutMs) * 1_000_000
        var failure: Failure?
        for url in try LocalServer.urls(data: data, environment) {
            let left = Int((end - Clocks.monotonic()) / 1_000_000)
            guard left > 0 else { break }
            let client = try ServiceClient(server: url, token: nil, environment, timeoutMs: left)
            do throws(Failure) {
                return try check(client)
            } catch {
                // The first listener's error is the most useful one.
                failure = failure ?? error
            }
        }
        throw failure ?? Failure(.other, "no listener answered in time")
    }

    private func check(_ client: ServiceClient) throws(Failure) {
        let response = try client.exchange(HTTPRequest(.get, "/healthz"))
        guard response.status == 200 else {
            throw Failure(.other, "\(client.address) is not healthy: \(ProblemText.line(response))")
        }
        Console.out("\(client.address) is healthy")
    }
}
