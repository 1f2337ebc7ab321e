import HTTPServer
import Platform
import TimerCore

/// One request answered, for the access log.
public struct AccessRecord: Sendable {
    /// The method.
    public var method: String
    /// The path and the query, without secrets of keys that came by mistake.
    public var target: String
    /// The status code of the answer.
    public var status: Int
    /// Bytes of the content that is sent.
    public var bytes: Int
    /// Seconds from the request's head to its answer.
    public var seconds: Double
    /// Address and port of the client.
    public var peer: String
    /// The `Request-Id` of the answer, without secrets too.
    public var requestID: String
}

extension AccessRecord {
    /// Makes the record of a request whose response is filled.
    init(_ ticket: Ticket) {
        let exchange = ticket.exchange
        self.init(
            method: exchange.methodText.isEmpty
                ? "\(exchange.method.name)" : Target.visible(exchange.methodText),
            target: KeySecret.masked(in: Target.visible(exchange.target)), status: exchange.response.status,
            bytes: exchange.sendsContent ? exchange.response.body.count : 0, seconds: exchange.seconds,
            peer: exchange.peerDescription,
            requestID: KeySecret.masked(in: String(decoding: ticket.requestID, as: UTF8.self)))
    }
}

extension APIConfiguration {
    /// Logs the request of a ticket whose response is filled.
    func log(_ ticket: Ticket) {
        if access.value.logsRequests { accessLog?(AccessRecord(ticket)) }
    }

    /// Logs a long poll that was answered.
    func log(_ origin: StreamOrigin, status: Int, bytes: Int, seconds: Double) {
        guard access.value.logsRequests else { return }
        accessLog?(
            AccessRecord(
                method: "GET", target: KeySecret.masked(in: String(decoding: origin.target, as: UTF8.self)),
                status: status, bytes: bytes, seconds: seconds, peer: origin.peer,
                requestID: KeySecret.masked(in: String(decoding: origin.requestID, as: UTF8.self))))
    }
}

extension Exchange {
    /// Seconds since the request's head came.
    var seconds: Double { Double(Clocks.monotonic() - startedAt) / 1e9 }
}
