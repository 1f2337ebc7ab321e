import CCurl

/// One of libcurl's result codes (libcurl-errors(3)).
public struct CurlCode: Error, Sendable, Equatable {
    let value: CURLcode

    init(_ value: CURLcode) { self.value = value }

    /// Throws `value` unless it is `CURLE_OK`.
    static func check(_ value: CURLcode) throws(CurlCode) {
        if value != CURLE_OK { throw CurlCode(value) }
    }

    /// libcurl's general description of the code.
    var text: String { unsafe String(cString: curl_easy_strerror(value)) }
}

extension CurlCode {
    /// The transfer came to its end.
    public static let ok = CurlCode(CURLE_OK)
    /// The delegate, or the caller, aborted the transfer.
    public static let aborted = CurlCode(CURLE_ABORTED_BY_CALLBACK)
    /// The delegate took fewer bytes than there were.
    public static let writeError = CurlCode(CURLE_WRITE_ERROR)
    /// A time limit has passed.
    public static let timedOut = CurlCode(CURLE_OPERATION_TIMEDOUT)
    /// There is no memory.
    public static let outOfMemory = CurlCode(CURLE_OUT_OF_MEMORY)

    /// The URL can't be read.
    public static let malformedURL = CurlCode(CURLE_URL_MALFORMAT)
    /// The URL's scheme is not allowed.
    public static let unsupportedProtocol = CurlCode(CURLE_UNSUPPORTED_PROTOCOL)
    /// The URL names a user, which is not allowed.
    public static let loginDenied = CurlCode(CURLE_LOGIN_DENIED)

    /// The host has no address.
    public static let hostNotResolved = CurlCode(CURLE_COULDNT_RESOLVE_HOST)
    /// The proxy's host has no address.
    public static let proxyNotResolved = CurlCode(CURLE_COULDNT_RESOLVE_PROXY)
    /// No connection was made.
    public static let notConnected = CurlCode(CURLE_COULDNT_CONNECT)
    /// The proxy did not let the connection through.
    public static let proxyFailed = CurlCode(CURLE_PROXY)
    /// The interface to send from can't be used.
    public static let interfaceFailed = CurlCode(CURLE_INTERFACE_FAILED)

    /// The connection broke while the request was sent.
    public static let sendError = CurlCode(CURLE_SEND_ERROR)
    /// The connection broke while the answer was received.
    public static let receiveError = CurlCode(CURLE_RECV_ERROR)
    /// The connection ended before any byte of an answer.
    public static let gotNothing = CurlCode(CURLE_GOT_NOTHING)
    /// The connection ended in the middle of the answer.
    public static let partialAnswer = CurlCode(CURLE_PARTIAL_FILE)
    /// HTTP/2 failed on the connection.
    public static let http2 = CurlCode(CURLE_HTTP2)
    /// HTTP/2 failed on the transfer's stream.
    public static let http2Stream = CurlCode(CURLE_HTTP2_STREAM)
    /// The answer is not HTTP.
    public static let weirdAnswer = CurlCode(CURLE_WEIRD_SERVER_REPLY)
    /// The answer's content is coded in a way that libcurl does not know.
    public static let badContentEncoding = CurlCode(CURLE_BAD_CONTENT_ENCODING)

    /// The server's certificate is not trusted; `EasyHandle.certificateFault` says why.
    public static let notTrusted = CurlCode(CURLE_PEER_FAILED_VERIFICATION)
    /// The server does not have the key that it must have.
    public static let otherKey = CurlCode(CURLE_SSL_PINNEDPUBKEYNOTMATCH)
    /// The handshake of TLS failed.
    public static let noHandshake = CurlCode(CURLE_SSL_CONNECT_ERROR)

    /// Whether TLS failed: no handshake, or a certificate that is not trusted.
    public var isTLSFailure: Bool {
        switch value {
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
            true
        default: false
        }
    }
}
