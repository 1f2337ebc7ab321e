import ArgumentParser
import Glibc
import HTTPClient

/// `timerd drain`.
struct Drain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop a server's fires, webhooks and changes, until `timerd undrain`.",
        discussion: """
            Returns once the webhooks that were under way have ended. Reads and event streams go on. The server stays \
            drained over a restart. Timers that come due meanwhile fire after `timerd undrain`, each by its misfire \
            policy; the clock of watchdogs and other suspending timers stands still.

              timerd drain
              timerd undrain
            """)

    @OptionGroup var client: ClientOptions

    func run() throws {
        let drained = try ServerDrain(try client.client()).begin()
        try client.print(drained) { _ in "drained" }
    }
}

/// `timerd undrain`.
struct Undrain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have a drained server go on.",
        discussion: """
            Timers that came due meanwhile fire now, each by its misfire policy. Don't undrain a server whose timers \
            were moved: they would fire on both.

              timerd undrain
            """)

    @OptionGroup var client: ClientOptions

    func run() throws {
        let answer = try ServerDrain(try client.client()).end()
        try client.print(answer) { _ in "undrained" }
    }
}

/// Drains a server and undrains it.
struct ServerDrain {
    /// Milliseconds between two checks whether attempts at deliveries are still under way.
    private static let pauseMs: UInt32 = 100

    private let service: ServiceClient
    private let target = RequestTarget("v1", "drain").text

    init(_ service: ServiceClient) { self.service = service }

    /// Drains the server and waits for the webhooks under way, each of which ends within its own timeout. Returns
    /// the last answer.
    func begin() throws(Failure) -> HTTPResponse {
        var progress = Progress()
        defer { progress.end() }
        while true {
            let response = try service.send(HTTPRequest(.post, target))
            let underWay = try JSONObject(response)["attemptsUnderWay"] ?? "0"
            if underWay == "0" { return response }
            progress.show("waiting for \(underWay) webhooks under way")
            usleep(Self.pauseMs * 1000)
        }
    }

    /// Undrains the server. Returns its answer.
    func end() throws(Failure) -> HTTPResponse { try service.send(HTTPRequest(.delete, target)) }
}
