import CCurl
import Glibc

/// A handle of libcurl's easy interface, which makes one transfer after another. Confined to one thread.
///
/// Options stay from one transfer to the next. A transfer runs in `perform`, or in the `MultiHandle` that the handle is
/// added to.
@safe public final class EasyHandle {
    let handle: UnsafeMutableRawPointer
    /// The transfer's index in a list of the owner's, by which `MultiHandle.nextEnded` names the transfer.
    public var index = 0
    /// The receiver of the answer. Alive while a transfer runs.
    public unowned var delegate: (any TransferDelegate)?
    private var sockets: SocketWatch?
    private let errorText: UnsafeMutablePointer<CChar>
    private let lines = HeaderLines()
    /// The lines of CURLOPT_RESOLVE.
    private var resolutions: UnsafeMutablePointer<curl_slist>?

    private static let hasStarted: Bool = ccurl_start() == CURLE_OK

    /// Makes a handle; nil where libcurl can't start: no memory, or no random numbers.
    public init?() {
        guard Self.hasStarted, let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        setSinks()
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(resolutions)
        unsafe errorText.deallocate()
    }

    /// Sets every option to its default; connections and the DNS cache stay.
    public func reset() {
        unsafe curl_easy_reset(handle)
        setSinks()
        clearError()
    }

    private var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    private func setSinks() {
        unsafe ccurl_set_error_buffer(handle, errorText)
        unsafe ccurl_set_sinks(handle, takeHead, takeBody, context)
    }

    // MARK: Options

    /// Sets an option.
    public func set(_ option: TextOption, _ text: String) throws(CurlCode) {
        try CurlCode.check(unsafe ccurl_set_text(handle, option.value, text))
    }

    /// Sets an option.
    public func set(_ option: NumberOption, _ number: Int) throws(CurlCode) {
        try CurlCode.check(unsafe ccurl_set_number(handle, option.value, number))
    }

    /// Makes the transfer use HTTP/2 where TLS agrees on it, HTTP/1.1 otherwise.
    public func setHTTP2OverTLS() throws(CurlCode) {
        try set(.httpVersion, Int(CURL_HTTP_VERSION_2TLS))
    }

    /// Makes the transfer trust the authorities in a PEM file instead of the system's.
    public func setAuthorities(_ path: String) throws(CurlCode) {
        try set(.authorities, path)
        // The default is a directory of the system, whose authorities would be trusted too.
        try CurlCode.check(unsafe ccurl_set_text(handle, CURLOPT_CAPATH, nil))
    }

    /// Makes the transfer trust the server that has a key, and no other. Issuer, name and expiry of its certificate are
    /// not judged.
    ///
    /// - Parameter pin: the key, in the form of CURLOPT_PINNEDPUBLICKEY.
    public func setPinnedKey(_ pin: String) throws(CurlCode) {
        try set(.pinnedKey, pin)
        try set(.verifyPeer, 0)
        try set(.verifyHost, 0)
    }

    /// Makes libcurl call `TransferDelegate.pulse`.
    public func setPulse() throws(CurlCode) {
        try CurlCode.check(unsafe ccurl_set_pulse(handle, takePulse, context))
    }

    /// Makes libcurl ask the delegate before each connection and before each request.
    ///
    /// - Parameter sockets: is notified of connections; outlives them, which may outlive the handle.
    public func setConnectionChecks(_ sockets: SocketWatch) throws(CurlCode) {
        self.sockets = sockets
        try CurlCode.check(unsafe ccurl_set_opener(handle, openSocket, context))
        try CurlCode.check(
            unsafe ccurl_set_closer(handle, closeSocket, Unmanaged.passUnretained(sockets).toOpaque()))
        try CurlCode.check(unsafe ccurl_set_gate(handle, askBefore, context))
    }

    /// Sets the addresses of hosts, for one transfer.
    ///
    /// - Parameter lines: the addresses, in the form of CURLOPT_RESOLVE.
    public func setResolutions(_ lines: [String]) throws(CurlCode) {
        unsafe curl_slist_free_all(resolutions)
        unsafe resolutions = nil
        for line in lines {
            guard let longer = unsafe curl_slist_append(resolutions, line) else {
                try CurlCode.check(unsafe ccurl_set_resolutions(handle, nil))
                throw .outOfMemory
            }
            unsafe resolutions = longer
        }
        try CurlCode.check(unsafe ccurl_set_resolutions(handle, resolutions))
    }

    // MARK: The request

    /// Sets the request's header lines: these, and nothing that libcurl would add by itself but `Host`,
    /// `Content-Length` and `Accept`.
    ///
    /// - Parameter expectsContinue: whether a long body may wait for "100 Continue".
    public func setHeaders(_ headers: [(name: String, value: String)], expectsContinue: Bool) throws(CurlCode) {
        lines.fill(headers, expectsContinue: expectsContinue)
        try CurlCode.check(unsafe ccurl_set_headers(handle, lines.first))
    }

    /// Sets the request's method, in upper case, and its body, which is copied.
    ///
    /// Methods other than GET and HEAD send `Content-Length: 0` where there is no body; HEAD sends no body.
    public func setMethod(_ method: String, body: [UInt8]?) throws(CurlCode) {
        if method == "HEAD" { return try set(.noBody, 1) }
        if body != nil || method != "GET" {
            try set(.post, 1)
            let body = body ?? []
            // An empty array may have no address, and none would mean "read it from a callback".
            let bytes = body.isEmpty ? [0] : body
            let code = unsafe bytes.withUnsafeBytes { unsafe ccurl_set_body(handle, $0.baseAddress, body.count) }
            try CurlCode.check(code)
        } else {
            try set(.get, 1)
        }
        try set(.customRequest, method)
    }

    /// Frees the memory that the last request alone needed.
    public func releaseRequest() {
        unsafe ccurl_set_text(handle, CURLOPT_COPYPOSTFIELDS, nil)
        lines.shrink()
    }

    // MARK: The transfer

    /// Runs the transfer to its end; blocks.
    public func perform(_ delegate: any TransferDelegate) -> CurlCode {
        self.delegate = delegate
        defer { self.delegate = nil }
        return withExtendedLifetime(delegate) { CurlCode(unsafe curl_easy_perform(handle)) }
    }

    /// The number of connections that the last transfer made; 0 where it used a kept one.
    public var connectionsMade: Int { unsafe ccurl_connections_made(handle) }

    /// The meaning of `code` for the last transfer: libcurl's message, or else the general description of the
    /// code.
    public func reason(_ code: CurlCode) -> String {
        let detail = unsafe String(cString: errorText)
        return detail.isEmpty ? code.text : detail
    }

    /// The reason for which the last transfer's server was not trusted, after `CurlCode.notTrusted`.
    public var certificateFault: CertificateFault { CertificateFault(unsafe ccurl_verify_result(handle)) }

    /// Clears the message about an earlier transfer's failure.
    public func clearError() { unsafe errorText[0] = 0 }

    fileprivate func opened(_ socket: curl_socket_t) { sockets?.opened(socket) }
}

extension EasyHandle {
    /// An option that takes text, which libcurl copies (curl_easy_setopt(3)).
    public struct TextOption: Sendable {
        let value: CURLoption

        /// The URL of the transfer.
        public static let url = TextOption(value: CURLOPT_URL)
        /// The Unix socket to connect to instead of the URL's host.
        public static let unixSocketPath = TextOption(value: CURLOPT_UNIX_SOCKET_PATH)
        /// The URL schemes that are allowed, separated by commas.
        public static let protocols = TextOption(value: CURLOPT_PROTOCOLS_STR)
        /// The proxy, as a URL.
        public static let proxy = TextOption(value: CURLOPT_PROXY)
        /// Hosts that are connected to without a proxy; `*` for all. Unset, the environment is asked.
        public static let noProxy = TextOption(value: CURLOPT_NOPROXY)

        static let authorities = TextOption(value: CURLOPT_CAINFO)
        static let pinnedKey = TextOption(value: CURLOPT_PINNEDPUBLICKEY)
        static let customRequest = TextOption(value: CURLOPT_CUSTOMREQUEST)
    }

    /// An option that takes a number or a flag (curl_easy_setopt(3)).
    public struct NumberOption: Sendable {
        let value: CURLoption

        /// Milliseconds for the whole transfer; 0 for no limit.
        public static let timeoutMs = NumberOption(value: CURLOPT_TIMEOUT_MS)
        /// Milliseconds for a connection to be made; 0 for libcurl's default.
        public static let connectTimeoutMs = NumberOption(value: CURLOPT_CONNECTTIMEOUT_MS)
        /// Whether a URL that names a user is refused.
        public static let disallowUserNameInURL = NumberOption(value: CURLOPT_DISALLOW_USERNAME_IN_URL)
        /// Whether the path goes out as it was given, dots included.
        public static let pathAsIs = NumberOption(value: CURLOPT_PATH_AS_IS)
        /// Whether the delegate does not see the header lines of a proxy's answer to CONNECT.
        public static let suppressConnectHeaders = NumberOption(value: CURLOPT_SUPPRESS_CONNECT_HEADERS)
        /// Whether libcurl installs no signal handlers: a process with threads needs that.
        public static let noSignal = NumberOption(value: CURLOPT_NOSIGNAL)
        /// Whether small pieces are sent at once.
        public static let tcpNoDelay = NumberOption(value: CURLOPT_TCP_NODELAY)
        /// Whether the kernel asks now and then whether the peer is still there.
        public static let tcpKeepAlive = NumberOption(value: CURLOPT_TCP_KEEPALIVE)
        /// Bytes that are received at once.
        public static let bufferSize = NumberOption(value: CURLOPT_BUFFERSIZE)
        /// Whether a new connection is made although a kept one could be used.
        public static let freshConnect = NumberOption(value: CURLOPT_FRESH_CONNECT)

        static let verifyPeer = NumberOption(value: CURLOPT_SSL_VERIFYPEER)
        static let verifyHost = NumberOption(value: CURLOPT_SSL_VERIFYHOST)
        static let get = NumberOption(value: CURLOPT_HTTPGET)
        static let post = NumberOption(value: CURLOPT_POST)
        static let noBody = NumberOption(value: CURLOPT_NOBODY)
        static let httpVersion = NumberOption(value: CURLOPT_HTTP_VERSION)
    }
}

/// Takes the answer of a transfer and decides about it. Called on the thread that runs the transfer.
public protocol TransferDelegate: AnyObject {
    /// Takes a line of the answer's head with its line end, interim answers and trailers included; false aborts
    /// the transfer.
    func head(_ line: Span<UInt8>) -> Bool

    /// Takes a piece of the answer's body; false aborts the transfer.
    func body(_ bytes: Span<UInt8>) -> Bool

    /// Called about once a second and whenever something moves, after `EasyHandle.setPulse`; false aborts the
    /// transfer.
    func pulse() -> Bool

    /// Whether a connection may be made, after `EasyHandle.setConnectionChecks`; if not, libcurl tries the host's next
    /// address.
    ///
    /// - Parameter address: 4 or 16 bytes in network order; nil for an address of another family.
    func mayConnect(to address: [UInt8]?, port: UInt16) -> Bool

    /// Whether the request may go out over its connection, new or kept, after `EasyHandle.setConnectionChecks`.
    ///
    /// - Parameter address: as text, without brackets.
    func mayUse(_ address: String, port: UInt16) -> Bool
}

extension TransferDelegate {
    /// Returns true: the transfer goes on.
    public func pulse() -> Bool { true }
    /// Allows every connection.
    public func mayConnect(to address: [UInt8]?, port: UInt16) -> Bool { true }
    /// Allows every request.
    public func mayUse(_ address: String, port: UInt16) -> Bool { true }
}

// MARK: - Callbacks of libcurl, inside `perform` or `MultiHandle.perform`, where handle and delegate are alive

private func easyHandle(_ context: UnsafeMutableRawPointer?) -> EasyHandle? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
}

private func takeHead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    unsafe take(bytes, size * count, context) { $0.head($1) }
}

private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    unsafe take(bytes, size * count, context) { $0.body($1) }
}

private func take(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
    _ body: (any TransferDelegate, Span<UInt8>) -> Bool
) -> Int {
    guard count > 0, let bytes = unsafe bytes, let delegate = unsafe easyHandle(context)?.delegate else { return 0 }
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: count).assumingMemoryBound(to: UInt8.self)
    // Any count but the one given ends the transfer; 0 would not for an empty piece, which is answered above.
    return body(delegate, unsafe piece.span) ? count : 0
}

private func takePulse(
    _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> CInt {
    unsafe easyHandle(context)?.delegate?.pulse() == true ? 0 : 1
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _: curlsocktype, _ target: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let easy = unsafe easyHandle(context), let target = unsafe target else { return -1 }
    var bytes = [UInt8](repeating: 0, count: 16)
    var port: UInt16 = 0
    let count = unsafe ccurl_address(target, &bytes, &port)
    let address = count == 0 ? nil : Array(bytes[..<count])
    guard easy.delegate?.mayConnect(to: address, port: port) == true else { return -1 }
    let made = unsafe socket(
        target.pointee.family, target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), target.pointee.protocol)
    if made >= 0 { easy.opened(made) }
    return made
}

private func askBefore(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafeMutablePointer<CChar>?,
    _: UnsafeMutablePointer<CChar>?, _ port: Int32, _: Int32
) -> Int32 {
    guard let delegate = unsafe easyHandle(context)?.delegate, let address = unsafe address else {
        return CURL_PREREQFUNC_ABORT
    }
    return delegate.mayUse(unsafe String(cString: address), port: UInt16(truncatingIfNeeded: port))
        ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// Closes a connection's socket. Also called as a multi handle is cleaned up, which may be after the easy handle's
/// end.
private func closeSocket(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    if let context = unsafe context {
        unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue().willClose(socket)
    }
    return close(socket)
}
