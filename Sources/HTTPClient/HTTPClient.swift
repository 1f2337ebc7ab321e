import Curl

/// A blocking HTTP client of one server, on libcurl. Confined to one thread; keeps its connection between requests.
///
/// The client follows no redirects and uses no proxy, whatever the environment says: it connects to the server
/// that it is given and to no other.
public final class HTTPClient {
    /// The default limit of an answer's body, in bytes.
    public static let defaultBodyLimit = 64 << 20

    /// The server.
    public let address: ServerAddress
    private let bodyLimit: Int
    private let easy: EasyHandle

    /// Makes a client; nothing is connected yet.
    ///
    /// - Parameter bodyLimit: the most bytes of an answer's body; a longer one is `tooLarge`.
    /// - Throws: `failed` where libcurl can't start.
    public init(_ address: ServerAddress, bodyLimit: Int = HTTPClient.defaultBodyLimit) throws(HTTPClientError) {
        guard let easy = EasyHandle() else { throw HTTPClientError(.failed, "libcurl can't start") }
        self.address = address
        self.bodyLimit = bodyLimit
        self.easy = easy
    }

    /// Sends a request and waits for the whole answer.
    ///
    /// - Parameter timeoutMs: for all of it, at least 1.
    public func send(_ request: HTTPRequest, timeoutMs: Int) throws(HTTPClientError) -> HTTPResponse {
        try run(request, ClientTransfer(bodyLimit: bodyLimit), timeoutMs: max(1, timeoutMs))
    }

    /// Sends a request and hands the body of a 200 on as it comes, until it ends or a closure returns false.
    ///
    /// - Parameters:
    ///   - silenceSeconds: a stream without a byte for this long is `timedOut`; checked about once a second.
    ///   - onHead: takes status and headers before the body comes, whatever the status; false ends the stream.
    ///   - onBytes: takes the next bytes, cut anywhere; false ends the stream.
    /// - Returns: the answer once it has ended, with the body unless `onBytes` took it.
    /// - Throws: also when the connection is lost in the middle; the bytes that came before were handed on.
    public func stream(
        _ request: HTTPRequest, silenceSeconds: Int, onHead: @escaping (HTTPResponse) -> Bool = { _ in true },
        onBytes: @escaping ([UInt8]) -> Bool
    ) throws(HTTPClientError) -> HTTPResponse {
        let reader = HTTPStreamReader(silenceSeconds: silenceSeconds, onHead: onHead, onBytes: onBytes)
        return try run(request, ClientTransfer(bodyLimit: bodyLimit, stream: reader), timeoutMs: nil)
    }

    private func run(
        _ request: HTTPRequest, _ transfer: ClientTransfer, timeoutMs: Int?
    ) throws(HTTPClientError) -> HTTPResponse {
        if let fault = request.fault { throw HTTPClientError(.invalidRequest, "\(address): \(fault)") }
        let code: CurlCode
        do throws(CurlCode) {
            try prepare(request, timeoutMs: timeoutMs)
            code = easy.perform(transfer)
        } catch {
            code = error
        }
        switch transfer.stop {
        case .byReader: return transfer.response
        case .silent: throw HTTPClientError(.timedOut, "\(address) fell silent")
        case .tooLarge: throw HTTPClientError(.tooLarge, "\(address): the answer is over \(bodyLimit) bytes")
        case nil: break
        }
        if code == .ok {
            guard transfer.response.status >= 200 else {
                throw HTTPClientError(.failed, "\(address): the answer has no status")
            }
            return transfer.response
        }
        throw HTTPClientError(Self.kind(code), "\(address): \(easy.reason(code))")
    }

    /// Sets every option for a request again; connections and the DNS cache stay.
    ///
    /// - Parameter timeoutMs: for the whole request; nil for none, but connecting never takes longer than 10 s.
    private func prepare(_ request: HTTPRequest, timeoutMs: Int?) throws(CurlCode) {
        easy.reset()
        try easy.setHeaders(request.headers, expectsContinue: true)
        try easy.set(.url, address.base + request.target)
        if let path = address.socketPath { try easy.set(.unixSocketPath, path) }
        try easy.set(.protocols, "http,https")
        try easy.set(.pathAsIs, 1)
        // No proxy of the environment is used.
        try easy.set(.noProxy, "*")
        try easy.set(.noSignal, 1)
        try easy.setPulse()
        try easy.set(.connectTimeoutMs, min(10_000, timeoutMs ?? .max))
        if let timeoutMs { try easy.set(.timeoutMs, timeoutMs) }
        try easy.setMethod(request.method.rawValue, body: request.body)
    }

    private static func kind(_ code: CurlCode) -> HTTPClientError.Kind {
        switch code {
        case .hostNotResolved, .notConnected: .unreachable
        case .timedOut: .timedOut
        case .gotNothing, .partialAnswer, .receiveError, .sendError, .http2, .http2Stream: .interrupted
        case .malformedURL, .unsupportedProtocol: .invalidRequest
        default: .failed
        }
    }
}
