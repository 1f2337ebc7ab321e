import CCurl

/// A blocking HTTP client of one server, on libcurl. Confined to one thread; keeps its connection between requests.
///
/// It follows no redirects and uses no proxy, whatever the environment says: what it is told to talk to is what it
/// talks to.
public final class HTTPClient {
    /// Bytes of an answer's body it takes unless told otherwise.
    public static let defaultBodyLimit = 64 << 20

    /// The server.
    public let address: ServerAddress
    private let bodyLimit: Int
    private let handle: EasyHandle

    /// Makes a client; nothing is connected yet.
    ///
    /// - Parameter bodyLimit: most bytes of an answer's body; a longer one is `tooLarge`.
    /// - Throws: `failed` where libcurl can't start.
    public init(_ address: ServerAddress, bodyLimit: Int = HTTPClient.defaultBodyLimit) throws(HTTPClientError) {
        guard let handle = EasyHandle() else { throw HTTPClientError(.failed, "libcurl can't start") }
        self.address = address
        self.bodyLimit = bodyLimit
        self.handle = handle
    }

    /// Sends a request and waits for the whole answer.
    ///
    /// - Parameter timeoutMs: for all of it, at least 1.
    public func send(_ request: HTTPRequest, timeoutMs: Int) throws(HTTPClientError) -> HTTPResponse {
        try run(request, Transfer(bodyLimit: bodyLimit), timeoutMs: max(1, timeoutMs))
    }

    /// Sends a request and hands the body of a 200 on as it comes, until it ends or the reader has enough.
    ///
    /// - Parameters:
    ///   - silenceSeconds: a stream without any byte for so long is `timedOut`; looked at about once a second.
    ///   - onHead: hears of status and headers before the body, whatever the status; false ends it.
    ///   - onBytes: takes the next bytes, cut anywhere; false ends it.
    /// - Returns: the answer once it has ended; with the body unless that went to `onBytes`.
    /// - Throws: also when the connection is lost in the middle; what came before was handed on.
    public func stream(
        _ request: HTTPRequest, silenceSeconds: Int, onHead: @escaping (HTTPResponse) -> Bool = { _ in true },
        onBytes: @escaping ([UInt8]) -> Bool
    ) throws(HTTPClientError) -> HTTPResponse {
        let reader = HTTPStreamReader(silenceSeconds: silenceSeconds, onHead: onHead, onBytes: onBytes)
        return try run(request, Transfer(bodyLimit: bodyLimit, stream: reader), timeoutMs: nil)
    }

    private func run(
        _ request: HTTPRequest, _ transfer: Transfer, timeoutMs: Int?
    ) throws(HTTPClientError) -> HTTPResponse {
        if let fault = request.fault { throw HTTPClientError(.invalidRequest, "\(address): \(fault)") }
        var code = handle.prepare(request, address, timeoutMs: timeoutMs)
        if code == CURLE_OK { code = handle.perform(transfer) }
        switch transfer.stop {
        case .byReader: return transfer.response
        case .silent: throw HTTPClientError(.timedOut, "\(address) fell silent")
        case .tooLarge: throw HTTPClientError(.tooLarge, "\(address): the answer is over \(bodyLimit) bytes")
        case nil: break
        }
        if code == CURLE_OK {
            guard transfer.response.status >= 200 else {
                throw HTTPClientError(.failed, "\(address): the answer has no status")
            }
            return transfer.response
        }
        throw HTTPClientError(Self.kind(code), "\(address): \(handle.reason(code))")
    }

    private static func kind(_ code: CURLcode) -> HTTPClientError.Kind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM:
            .interrupted
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .invalidRequest
        default: .failed
        }
    }
}
