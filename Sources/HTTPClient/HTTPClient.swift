import Curl
import Platform

/// A blocking HTTP client of one server, on libcurl. Confined to one thread; keeps its connection between requests.
///
/// The client follows no redirects and uses no proxy, whatever the environment says: it connects to the server
/// that it is given and to no other.
public final class HTTPClient {
    /// The default limit of an answer's body, in bytes.
    public static let defaultBodyLimit = 64 << 20

    /// The server.
    public let address: ServerAddress
    private let trust: ServerTrust
    private let bodyLimit: Int
    private let easy: EasyHandle

    /// Makes a client; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - trust: the servers that are trusted over TLS.
    ///   - bodyLimit: the most bytes of an answer's body; a longer one is `tooLarge`.
    /// - Throws: `failed` where libcurl can't start.
    public init(
        _ address: ServerAddress, trust: ServerTrust = .system, bodyLimit: Int = HTTPClient.defaultBodyLimit
    ) throws(HTTPClientError) {
        guard let easy = EasyHandle() else { throw HTTPClientError(.failed, "libcurl can't start") }
        self.address = address
        self.trust = trust
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
        throw failure(code, hasBegun: transfer.response.status != 0)
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
        switch trust {
        case .system: break
        case .authorities(let file): try easy.setAuthorities(file)
        case .key(let pin): try easy.setPinnedKey(pin)
        }
        try easy.set(.connectTimeoutMs, min(10_000, timeoutMs ?? .max))
        if let timeoutMs { try easy.set(.timeoutMs, timeoutMs) }
        try easy.setMethod(request.method.rawValue, body: request.body)
    }

    /// The failure of a transfer that ended with `code`.
    ///
    /// - Parameter hasBegun: whether some of the answer came.
    private func failure(_ code: CurlCode, hasBegun: Bool) -> HTTPClientError {
        let reason = easy.reason(code)
        if code == .notTrusted { return .untrusted(easy.certificateFault, reason, address) }
        if code == .otherKey {
            return HTTPClientError(.failed, "\(address): the server there has another key than expected")
        }
        if code == .noHandshake, reason.contains("wrong version number") {
            return HTTPClientError(.failed, "\(address): the server there speaks no TLS; is its address http://…?")
        }
        // The library of TLS names no fault of its own, such as `error:0A00010B`, where the connection failed.
        if code == .noHandshake, !reason.contains("error:") {
            return HTTPClientError(
                .failed,
                "\(address): the connection ended before TLS began: the server there has failed, or speaks no TLS; is its "
                    + "address http://…?")
        }
        // A server that listens for TLS alone ends the connection of such a request.
        let isEnded = (code == .gotNothing || code == .receiveError) && !hasBegun
        let hint =
            isEnded && !address.isSecure && address.socketPath == nil
            ? "; the server there has failed, or takes TLS alone; is its address https://…?" : ""
        return HTTPClientError(Self.kind(code), "\(address): \(reason)\(hint)")
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

/// Why a request got no answer. An answer with a status of 400 or above is no error here.
public struct HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds that a caller may treat differently.
    public enum Kind: Sendable, Equatable {
        /// No server answers there: refused, no such host or socket. The request was not sent.
        case unreachable
        /// The answer did not come in time, or a stream sent nothing for too long. The request may have been carried
        /// out.
        case timedOut
        /// The connection ended before the answer did. The request may have been carried out.
        case interrupted
        /// The answer is longer than the client's limit.
        case tooLarge
        /// The request can't be sent as it is.
        case invalidRequest
        /// The server's certificate leads to no authority that is trusted. The request was not sent.
        case unknownIssuer
        /// Anything else, such as an answer that is not HTTP or a certificate that has expired.
        case failed
    }

    /// The kind of the error.
    public let kind: Kind
    /// One line that names the server.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

extension HTTPClientError {
    /// The error for a server whose certificate is not trusted.
    ///
    /// - Parameter reason: libcurl's message.
    static func untrusted(_ fault: CertificateFault, _ reason: String, _ address: ServerAddress) -> HTTPClientError {
        let (kind, text): (Kind, String) =
            switch fault {
            case .issuer: (.unknownIssuer, "no authority that is trusted has issued the server's certificate")
            case .expired: (.failed, "the server's certificate has expired")
            case .notYetValid: (.failed, "the server's certificate is not valid yet")
            case .other: (.failed, "the server's certificate is not for this name, or is not trusted")
            }
        return HTTPClientError(kind, "\(address): \(text) (\(reason))")
    }
}

/// One request of an `HTTPClient` under way: takes the answer.
final class ClientTransfer: TransferDelegate {
    /// The reason why the transfer was aborted.
    enum Stop {
        /// The body is longer than the client takes.
        case tooLarge
        /// No byte came for as long as the caller allowed.
        case silent
        /// The stream's reader wants no more.
        case byReader
    }

    /// The answer so far.
    private(set) var response = HTTPResponse(status: 0, headers: [], body: [])
    /// The reason why the transfer was aborted; nil where it was not.
    private(set) var stop: Stop?
    private let bodyLimit: Int
    private let stream: HTTPStreamReader?
    private var headBytes = 0
    private var headEnded = false
    private var lastByteAt = Clocks.monotonic()

    /// The most bytes of header lines that a client takes.
    static let headLimit = 64 * 1024

    init(bodyLimit: Int, stream: HTTPStreamReader? = nil) {
        self.bodyLimit = bodyLimit
        self.stream = stream
    }

    func head(_ line: Span<UInt8>) -> Bool {
        lastByteAt = Clocks.monotonic()
        headBytes += line.count
        guard headBytes <= Self.headLimit else { return abort(.tooLarge) }
        let text = String(trimming: line.indices.map { line[$0] })
        if text.hasPrefix("HTTP/") {
            // A new status line: what came before was interim, 100 or 103.
            response.headers = []
            response.status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        } else if let colon = text.firstIndex(of: ":") {
            let value = String(trimming: text[text.index(after: colon)...].utf8)
            response.headers.append(HTTPResponse.Header(name: String(text[..<colon]), value: value))
        } else if text.isEmpty, response.status >= 200, !headEnded {
            headEnded = true
            if let stream, !stream.onHead(response) { return abort(.byReader) }
        }
        return true
    }

    func body(_ bytes: Span<UInt8>) -> Bool {
        let bytes = bytes.indices.map { bytes[$0] }
        lastByteAt = Clocks.monotonic()
        if let stream, response.status == 200 {
            return stream.onBytes(bytes) || abort(.byReader)
        }
        guard response.body.count + bytes.count <= bodyLimit else { return abort(.tooLarge) }
        response.body += bytes
        return true
    }

    func pulse() -> Bool {
        guard let stream, Clocks.monotonic() - lastByteAt > Int64(stream.silenceSeconds) * 1_000_000_000 else {
            return true
        }
        return abort(.silent)
    }

    private func abort(_ reason: Stop) -> Bool {
        stop = reason
        return false
    }
}

extension String {
    /// Decodes UTF-8 without the white space and line ends around it.
    fileprivate init(trimming bytes: some BidirectionalCollection<UInt8>) {
        let start = bytes.drop { $0 <= 0x20 }
        let end = start.lastIndex { $0 > 0x20 }.map { start.index(after: $0) } ?? start.startIndex
        self = String(decoding: start[..<end], as: UTF8.self)
    }
}

/// Takes a stream's head and bytes as they come.
struct HTTPStreamReader {
    /// Seconds without a byte after which a stream is aborted.
    let silenceSeconds: Int
    /// Takes the answer's head, whatever its status; false ends the stream.
    let onHead: (HTTPResponse) -> Bool
    /// Takes bytes of a 200's body as they come; false ends the stream.
    let onBytes: ([UInt8]) -> Bool
}
