import CCurl
import Glibc
import TimerCore

/// A handle of libcurl's easy interface that makes one exchange after another. Confined to the courier's thread.
@safe final class ExchangeHandle {
    /// What every handle of a courier has in common.
    struct Settings {
        var limits: CourierLimits
        var judge: @Sendable (_ host: String, _ address: CourierAddress) -> String?
    }

    let handle: UnsafeMutableRawPointer
    /// The number of the request under way.
    private var serial: UInt64 = 0
    /// When it began and when its time is over, on the monotonic clock.
    private var startedAt: Int64 = 0
    private var deadline: Int64 = 0
    /// Where the courier keeps it among those under way.
    var index = 0

    private let errorText: UnsafeMutablePointer<CChar>
    private let lines = HeaderLines()
    private let settings: Settings
    private let sockets: SocketWatch
    private var url = ""
    /// Where the addresses of hosts are told: see `HostPort.resolution`.
    private var resolutions: UnsafeMutablePointer<curl_slist>?
    /// Whether the exchange is made once more, over a new connection.
    private var isRepeated = false
    private var answer = AnswerHead()
    private var bodyBytes = 0
    private var refusal: String?
    /// Whether the connection was judged as it was made; a kept one was made under the rules of its time.
    private var isJudged = false

    private static let hasStarted: Bool = ccurl_start() == CURLE_OK

    /// Nil where libcurl can't make one: no memory, or an option it was built without.
    ///
    /// - Parameter sockets: is told of connections; outlives them, which may outlive the handle.
    init?(_ settings: Settings, _ sockets: SocketWatch) {
        guard Self.hasStarted, let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        self.settings = settings
        self.sockets = sockets
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        guard configure() == CURLE_OK else { return nil }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(resolutions)
        unsafe errorText.deallocate()
    }

    /// Sets what is the same for every request.
    private func configure() -> CURLcode {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        var code = unsafe ccurl_set_callbacks(handle, takeHead, takeBody, openSocket, context)
        func set(_ option: CURLoption, _ text: String) {
            if code == CURLE_OK { code = unsafe ccurl_set_text(handle, option, text) }
        }
        func set(_ option: CURLoption, _ number: Int) {
            if code == CURLE_OK { code = unsafe ccurl_set_number(handle, option, number) }
        }
        unsafe ccurl_set_closer(handle, closeSocket, Unmanaged.passUnretained(sockets).toOpaque())
        unsafe ccurl_set_gate(handle, askBefore, context)
        unsafe ccurl_set_error_buffer(handle, errorText)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        // The path goes out as it was given, dots included.
        set(CURLOPT_PATH_AS_IS, 1)
        if let proxy = settings.limits.proxy {
            set(CURLOPT_PROXY, proxy)
            // Empty is not unset: nothing is exempt, and the environment is not asked.
            set(CURLOPT_NOPROXY, "")
            set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        } else {
            set(CURLOPT_NOPROXY, "*")
        }
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_TCP_NODELAY, 1)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // Answers are short and thrown away.
        set(CURLOPT_BUFFERSIZE, 4096)
        return code
    }

    /// Sets up an exchange, which begins when the handle is added to the multi handle.
    ///
    /// - Parameters:
    ///   - request: without a fault.
    ///   - resolutions: where the addresses of its hosts are: libcurl looks up none itself.
    ///   - now: the monotonic clock.
    func prepare(_ timed: TimedRequest, _ resolutions: [String], now: Int64) -> CURLcode {
        let request = timed.request
        serial = request.serial
        startedAt = timed.startedAt
        deadline = timed.deadline
        url = request.url
        isRepeated = false
        unsafe curl_slist_free_all(self.resolutions)
        unsafe self.resolutions = nil
        for line in resolutions { unsafe self.resolutions = curl_slist_append(self.resolutions, line) }
        lines.fill(request.headers)
        var code = unsafe ccurl_set_headers(handle, lines.first)
        func set(_ option: CURLoption, _ text: String) {
            if code == CURLE_OK { code = unsafe ccurl_set_text(handle, option, text) }
        }
        set(CURLOPT_URL, request.url)
        if request.body != nil || request.method != "GET" {
            if code == CURLE_OK { code = unsafe ccurl_set_number(handle, CURLOPT_POST, 1) }
            setBody(request.body ?? [], &code)
        } else if code == CURLE_OK {
            code = unsafe ccurl_set_number(handle, CURLOPT_HTTPGET, 1)
        }
        set(CURLOPT_CUSTOMREQUEST, request.method)
        return code == CURLE_OK ? start(now: now) : code
    }

    /// Sets up the same exchange once more, over a new connection.
    func prepareAgain(now: Int64) -> CURLcode {
        isRepeated = true
        return start(now: now)
    }

    private func start(now: Int64) -> CURLcode {
        answer = AnswerHead()
        bodyBytes = 0
        refusal = nil
        isJudged = false
        unsafe errorText[0] = 0
        var code = unsafe ccurl_set_resolutions(handle, resolutions)
        func set(_ option: CURLoption, _ number: Int) {
            if code == CURLE_OK { code = unsafe ccurl_set_number(handle, option, number) }
        }
        // 0 would be "for ever".
        let timeout = max(1, Int((deadline - now) / 1_000_000))
        set(CURLOPT_TIMEOUT_MS, timeout)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, min(settings.limits.connectTimeoutMs, timeout)))
        set(CURLOPT_FRESH_CONNECT, isRepeated ? 1 : 0)
        return code
    }

    /// How many connections the exchange made; 0 where it used a kept one.
    private var connectionsMade: Int { unsafe ccurl_connections_made(handle) }

    /// Whether an exchange that ended with `code` is no attempt: the receiver had closed the kept connection, or closed it
    /// before any byte of an answer. libcurl repeats by itself what fails as it is received, not what fails as it is sent.
    func repeats(_ code: CURLcode, now: Int64) -> Bool {
        switch code {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            !isRepeated && !answer.hasBegun && now < deadline
                && connectionsMade == 0
        default: false
        }
    }

    private func setBody(_ body: [UInt8], _ code: inout CURLcode) {
        guard code == CURLE_OK else { return }
        // An empty array may have no address, and none would mean "read it from a callback".
        let bytes = body.isEmpty ? [0] : body
        code = unsafe bytes.withUnsafeBytes { unsafe ccurl_set_body(handle, $0.baseAddress, body.count) }
    }

    /// What has come of the exchange, now that it ended with `code`.
    ///
    /// A 2xx counts once the whole answer is there; what goes beyond the bytes that are read is cut off, and not missed.
    /// Of other answers the head is enough.
    func result(_ code: CURLcode, now: Int64) -> CourierResult {
        var result = CourierResult(serial: serial, startedAt: startedAt, endedAt: now)
        let isWhole = code == CURLE_OK || bodyBytes > settings.limits.bodyLimit
        if answer.status > 0, isWhole || !(200...299).contains(answer.status) {
            result.status = answer.status
            result.retryAfter = answer.retryAfter
            result.timerCommand = answer.timerCommand
        } else {
            (result.failure, result.error) = failure(code)
        }
        return result
    }

    /// Why there was no answer, and the same in one line.
    func failure(_ code: CURLcode) -> (DeliveryFailure, String) {
        if answer.isTooLong { return (.malformed, "the answer's head is over \(AnswerHead.limit) bytes") }
        let isRefusal = code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK
        if let refusal, isRefusal { return (.refused, "refused: \(refusal)") }
        if code == CURLE_OK { return (.malformed, "no answer") }
        let detail = unsafe String(cString: errorText)
        let text = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
        return (DeliveryFailure(code), String(text.map { $0.isNewline ? " " : $0 }))
    }

    /// Lets go of what the last exchange alone needed.
    func release() {
        unsafe ccurl_set_text(handle, CURLOPT_COPYPOSTFIELDS, nil)
        lines.shrink()
    }

    fileprivate func opened(_ socket: curl_socket_t) { sockets.opened(socket) }

    fileprivate func head(_ line: Span<UInt8>) -> Bool { answer.take(line) }

    fileprivate func body(_ count: Int) -> Bool {
        bodyBytes += count
        return bodyBytes <= settings.limits.bodyLimit
    }

    /// Whether a connection to `address` may be made. A proxy is the operator's choice, and all that is seen here.
    fileprivate func mayConnect(to address: CourierAddress?) -> Bool {
        guard settings.limits.proxy == nil else { return true }
        guard let address else {
            refusal = "an address that is neither IPv4 nor IPv6"
            return false
        }
        guard let reason = settings.judge(HostPort(url)?.host ?? "", address) else {
            isJudged = true
            return true
        }
        // Of several addresses one that is refused tells more than one where nobody listens.
        refusal = reason
        return false
    }

    /// Whether the request may go out over its connection, to `address`: rules may have changed while it was kept.
    fileprivate func mayUse(_ address: String, port: UInt16) -> Bool {
        isJudged || mayConnect(to: IPAddress(address).map { CourierAddress(bytes: $0.bytes, port: port) })
    }
}

// They run inside libcurl's calls, on the courier's thread, where the handle is alive; `closeSocket` also when the
// multi handle is cleaned up.

private func takeHead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count).assumingMemoryBound(to: UInt8.self)
    let exchange = unsafe Unmanaged<ExchangeHandle>.fromOpaque(context).takeUnretainedValue()
    return exchange.head(unsafe line.span) ? size * count : 0
}

private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    return unsafe Unmanaged<ExchangeHandle>.fromOpaque(context).takeUnretainedValue().body(size * count)
        ? size * count : 0
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _: curlsocktype, _ target: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context = unsafe context, let target = unsafe target else { return -1 }
    let exchange = unsafe Unmanaged<ExchangeHandle>.fromOpaque(context).takeUnretainedValue()
    var bytes = [UInt8](repeating: 0, count: 16)
    var port: UInt16 = 0
    let count = unsafe ccurl_address(target, &bytes, &port)
    let address = count == 0 ? nil : CourierAddress(bytes: Array(bytes[..<count]), port: port)
    guard exchange.mayConnect(to: address) else { return -1 }
    let made = unsafe socket(
        target.pointee.family, target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), target.pointee.protocol)
    if made >= 0 { exchange.opened(made) }
    return made
}

private func askBefore(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafeMutablePointer<CChar>?,
    _: UnsafeMutablePointer<CChar>?, _ port: Int32, _: Int32
) -> Int32 {
    guard let context = unsafe context, let address = unsafe address else { return CURL_PREREQFUNC_ABORT }
    let exchange = unsafe Unmanaged<ExchangeHandle>.fromOpaque(context).takeUnretainedValue()
    return exchange.mayUse(unsafe String(cString: address), port: UInt16(truncatingIfNeeded: port))
        ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    if let context = unsafe context {
        unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue().willClose(socket)
    }
    return close(socket)
}
