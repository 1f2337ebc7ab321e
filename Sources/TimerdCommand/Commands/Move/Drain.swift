import Glibc
import HTTPClient

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
