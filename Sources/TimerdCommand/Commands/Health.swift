import ArgumentParser
import HTTPClient
import HTTPServer
import Platform

/// `timerd health`.
struct Health: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a server whether it is healthy.",
        discussion: """
            Exits 0 when the server is healthy, 1 when it is not or does not answer within 2 seconds. Needs no token.

            Without --server it asks the server of the data directory, which keeps a list of its listeners there; \
            if there is none, the server at --listen's variable or default. 0.0.0.0 and [::] are asked on loopback. \
            A listener with TLS must have the key that the list has for it; elsewhere its certificate is verified, as \
            by every command.

              timerd health
              timerd health --data /var/lib/timerd
              timerd health --server unix:/run/timerd.sock
            """)

    /// The time that the server may take, in milliseconds.
    static let timeoutMs = 2000

    @Option(name: Setting.server.name, help: Setting.server.help) var server: String?
    @Option(name: Setting.data.name, help: Setting.data.help) var data: String?
    @Option(name: Setting.ca.name, help: Setting.ca.help, completion: .file()) var ca: String?

    func run() throws {
        let environment = Environment.current
        guard server == nil || data == nil else {
            throw Failure(.usage, "--\(Setting.server.flag) and --\(Setting.data.flag) both say which server to ask")
        }
        if server != nil || data == nil && environment[Setting.server.variable] != nil {
            return try check(
                ServiceClient(server: server, token: nil, ca: ca, environment, timeoutMs: Self.timeoutMs))
        }
        let end = Clocks.monotonic() + Int64(Self.timeoutMs) * 1_000_000
        var failure: Failure?
        for listener in try LocalServer.listeners(data: data, environment) {
            let left = Int((end - Clocks.monotonic()) / 1_000_000)
            guard left > 0 else { break }
            do throws(Failure) {
                return try check(client(of: listener, environment, timeoutMs: left))
            } catch {
                // The first listener's error is the most useful one.
                failure = failure ?? error
            }
        }
        throw failure ?? Failure(.other, "no listener answered in time")
    }

    private func client(
        of listener: ListenersFile.Listener, _ environment: Environment, timeoutMs: Int
    ) throws(Failure) -> ServiceClient {
        let url = listener.address.url
        guard let pin = listener.pin, let address = ServerAddress(url) else {
            return try ServiceClient(server: url, token: nil, ca: ca, environment, timeoutMs: timeoutMs)
        }
        return try ServiceClient(address, trust: .key(pin: pin), timeoutMs: timeoutMs)
    }

    private func check(_ client: ServiceClient) throws(Failure) {
        let response = try client.exchange(HTTPRequest(.get, "/healthz"))
        guard response.status == 200 else {
            throw Failure(.other, "\(client.address) is not healthy: \(ProblemText.line(response))")
        }
        Console.out("\(client.address) is healthy")
    }
}

/// Finds the listeners of a server on this machine, from the settings that `timerd serve` would use.
enum LocalServer {
    /// Returns the listeners by which the server may be reached: those that it wrote into its data directory, else
    /// those of `--listen` by its variable, the file or its default.
    ///
    /// - Parameter data: the data directory, where the command line names it; then a server must have written its
    ///   addresses there.
    static func listeners(
        data: String?, _ environment: Environment
    ) throws(Failure) -> [ListenersFile.Listener] {
        let settings = try SettingReader(flags: [Setting.data.flag: data.map { [$0] } ?? []], environment)
        // A server on a database writes its addresses nowhere.
        let isInDirectory = try settings.one(.store).text == "sqlite"
        if data != nil || isInDirectory {
            let file = ListenersFile(directory: try settings.one(.data).nonEmpty())
            let listed = file.read()
            if !listed.isEmpty {
                return listed.map { ListenersFile.Listener(address: $0.address.fromHere, pin: $0.pin) }
            }
            if data != nil {
                throw Failure(.other, "\(file.path) is not there, or can't be read: no server runs on that directory")
            }
        }
        let configured = try ServeConfiguration.listeners(settings.all(.listen)).filter(\.hasPlace)
        guard !configured.isEmpty else {
            throw Failure(
                .other, "the kernel chose the server's port, and no server wrote it down: say --server or --data")
        }
        return configured.map { ListenersFile.Listener(address: $0.fromHere) }
    }
}

extension ListenAddress {
    /// Whether the address says where to connect to; port 0 does not.
    fileprivate var hasPlace: Bool {
        if case .tcp(_, 0, _) = self { false } else { true }
    }
}
