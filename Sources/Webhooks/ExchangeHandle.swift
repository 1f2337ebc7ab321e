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
    private(set) var serial: UInt64 = 0
    /// When it began, on the monotonic clock.
    private(set) var startedAt: Int64 = 0
    /// Where the courier keeps it among those under way.
    var index = 0

    private let errorText: UnsafeMutablePointer<CChar>
    private let lines = HeaderLines()
    private let settings: Settings
    private let sockets: SocketWatch
    private var url = ""
    private var answer = AnswerHead()
    private var bodyBytes = 0
    private var refusal: String?

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
        // A lookup that outlives its exchange ends by itself; waiting for it would stop all the others.
        set(CURLOPT_QUICK_EXIT, 1)
        // Answers are short and thrown away.
        set(CURLOPT_BUFFERSIZE, 4096)
        return code
    }

    /// Sets up an exchange, which begins when the handle is added to the multi handle.
    ///
    /// - Parameters:
    ///   - request: without a fault.
    ///   - now: the monotonic clock, for the result.
    func prepare(_ request: CourierRequest, now: Int64) -> CURLcode {
        serial = request.serial
        startedAt = now
        url = request.url
        answer = AnswerHead()
        bodyBytes = 0
        refusal = nil
        unsafe errorText[0] = 0
        lines.fill(request.headers)
        var code = unsafe ccurl_set_headers(handle, lines.first)
        func set(_ option: CURLoption, _ text: String) {
            if code == CURLE_OK { code = unsafe ccurl_set_text(handle, option, text) }
        }
        func set(_ option: CURLoption, _ number: Int) {
            if code == CURLE_OK { code = unsafe ccurl_set_number(handle, option, number) }
        }
        // 0 would be "for ever".
        let timeout = max(1, request.timeoutMs)
        set(CURLOPT_TIMEOUT_MS, timeout)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, min(settings.limits.connectTimeoutMs, timeout)))
        set(CURLOPT_URL, request.url)
        if request.body != nil || request.method != "GET" {
            set(CURLOPT_POST, 1)
            setBody(request.body ?? [], &code)
        } else {
            set(CURLOPT_HTTPGET, 1)
        }
        set(CURLOPT_CUSTOMREQUEST, request.method)
        return code
    }

    private func setBody(_ body: [UInt8], _ code: inout CURLcode) {
        guard code == CURLE_OK else { return }
        // An empty array may have no address, and none would mean "read it from a callback".
        let bytes = body.isEmpty ? [0] : body
        code = unsafe bytes.withUnsafeBytes { unsafe ccurl_set_body(handle, $0.baseAddress, body.count) }
    }

    /// What has come of the exchange, now that it ended with `code`.
    func result(_ code: CURLcode, now: Int64) -> CourierResult {
        var result = CourierResult(serial: serial, startedAt: startedAt, endedAt: now)
        if answer.status > 0 {
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
        if let refusal, code == CURLE_COULDNT_CONNECT { return (.refused, "refused: \(refusal)") }
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
        guard let reason = settings.judge(Self.host(of: url), address) else { return true }
        // Of several addresses one that is refused tells more than one where nobody listens.
        refusal = reason
        return false
    }

    /// The host as libcurl's own reader finds it, so that nobody is judged by another name than is connected to.
    private static func host(of url: String) -> String {
        guard let parts = unsafe curl_url() else { return "" }
        defer { unsafe curl_url_cleanup(parts) }
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_set(parts, CURLUPART_URL, url, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK,
            unsafe curl_url_get(parts, CURLUPART_HOST, &text, 0) == CURLUE_OK, let found = unsafe text
        else { return "" }
        defer { unsafe curl_free(found) }
        return unsafe String(cString: found).lowercased()
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

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    if let context = unsafe context {
        unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue().willClose(socket)
    }
    return close(socket)
}
