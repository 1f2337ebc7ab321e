import Curl
import TimerCore

/// Makes one request of the courier's after another, each as a transfer of libcurl. Confined to the courier's thread.
final class CourierTransfer {
    /// The settings that all transfers of a courier have in common.
    struct Settings {
        var limits: CourierLimits
        var judge: @Sendable (_ host: String, _ address: CourierAddress) -> String?
    }

    /// The handle that runs the transfer. Its `index` is the transfer's index in the courier's list of those under way.
    let easy: EasyHandle
    private let settings: Settings
    /// The number of the request under way.
    private var serial: UInt64 = 0
    /// The instants at which the request began and at which its time is over, on the monotonic clock.
    private var startedAt: Int64 = 0
    private var deadline: Int64 = 0
    private var url = ""
    /// The lines that give libcurl the addresses of hosts: see `HostPort.resolution`.
    private var resolutions: [String] = []
    /// Whether the request is made once more, over a new connection.
    private var isRepeated = false
    private var answer = AnswerHead()
    private var bodyBytes = 0
    private var refusal: String?
    /// Whether the connection was judged when it was made; a kept connection was made under earlier rules.
    private var isJudged = false

    /// Makes a transfer; nil where libcurl can't: no memory, or an option that it was built without.
    ///
    /// - Parameter sockets: gets notice of connections; must outlive them, and they may outlive the transfer.
    init?(_ settings: Settings, _ sockets: SocketWatch) {
        guard let easy = EasyHandle() else { return nil }
        self.easy = easy
        self.settings = settings
        easy.delegate = self
        do throws(CurlCode) { try configure(sockets) } catch { return nil }
    }

    /// Sets the options that are the same for every request.
    private func configure(_ sockets: SocketWatch) throws(CurlCode) {
        try easy.setConnectionChecks(sockets)
        try easy.set(.protocols, "http,https")
        try easy.set(.disallowUserNameInURL, 1)
        try easy.set(.pathAsIs, 1)
        if let proxy = settings.limits.proxy {
            try easy.set(.proxy, proxy)
            // Empty is not unset: nothing is exempt, and the environment is not asked.
            try easy.set(.noProxy, "")
            try easy.set(.suppressConnectHeaders, 1)
        } else {
            try easy.set(.noProxy, "*")
        }
        try easy.set(.noSignal, 1)
        try easy.set(.tcpNoDelay, 1)
        try easy.set(.tcpKeepAlive, 1)
        try easy.setHTTP2OverTLS()
        // Answers are short and thrown away.
        try easy.set(.bufferSize, 4096)
    }

    /// Sets up a request, whose transfer begins when it is added to the multi handle.
    ///
    /// - Parameters:
    ///   - timed: a request without a fault.
    ///   - resolutions: the addresses of its hosts, in lines for libcurl, which looks up none itself.
    ///   - now: the instant on the monotonic clock.
    func prepare(_ timed: TimedRequest, _ resolutions: [String], now: Int64) throws(CurlCode) {
        let request = timed.request
        serial = request.serial
        startedAt = timed.startedAt
        deadline = timed.deadline
        url = request.url
        isRepeated = false
        self.resolutions = resolutions
        try easy.setHeaders(request.headers, expectsContinue: false)
        try easy.set(.url, request.url)
        try easy.setMethod(request.method, body: request.body)
        try start(now: now)
    }

    /// Sets up the same request once more, over a new connection.
    func prepareAgain(now: Int64) throws(CurlCode) {
        isRepeated = true
        try start(now: now)
    }

    private func start(now: Int64) throws(CurlCode) {
        answer = AnswerHead()
        bodyBytes = 0
        refusal = nil
        isJudged = false
        easy.clearError()
        try easy.setResolutions(resolutions)
        // libcurl takes 0 for no limit.
        let timeout = max(1, Int((deadline - now) / 1_000_000))
        try easy.set(.timeoutMs, timeout)
        try easy.set(.connectTimeoutMs, max(1, min(settings.limits.connectTimeoutMs, timeout)))
        try easy.set(.freshConnect, isRepeated ? 1 : 0)
    }

    /// Whether a transfer that ended with `code` is no attempt, and is to be repeated: the receiver had closed the
    /// kept connection, or closed it before any byte of an answer. libcurl repeats by itself what fails while it
    /// receives, not what fails while it sends.
    func repeats(_ code: CurlCode, now: Int64) -> Bool {
        switch code {
        case .sendError, .receiveError, .gotNothing, .http2, .http2Stream:
            !isRepeated && !answer.hasBegun && now < deadline && easy.connectionsMade == 0
        default: false
        }
    }

    /// Returns the request's result, once its transfer has ended with `code`.
    ///
    /// A 2xx counts once the whole answer is there; bytes beyond those that are read are cut off, and not missed.
    /// Any other answer needs only its head.
    func result(_ code: CurlCode, now: Int64) -> CourierResult {
        var result = CourierResult(serial: serial, startedAt: startedAt, endedAt: now)
        let isWhole = code == .ok || bodyBytes > settings.limits.bodyLimit
        if answer.status > 0, isWhole || !(200...299).contains(answer.status) {
            result.status = answer.status
            result.retryAfter = answer.retryAfter
            result.timerCommand = answer.timerCommand
        } else {
            (result.failure, result.error) = failure(code)
        }
        return result
    }

    /// Returns why there was no answer, and the same in one line.
    func failure(_ code: CurlCode) -> (DeliveryFailure, String) {
        if answer.isTooLong { return (.malformed, "the answer's head is over \(AnswerHead.limit) bytes") }
        if let refusal, code == .notConnected || code == .aborted { return (.refused, "refused: \(refusal)") }
        if code == .ok { return (.malformed, "no answer") }
        return (DeliveryFailure(code), String(easy.reason(code).map { $0.isNewline ? " " : $0 }))
    }

    /// Releases what only the last request needed.
    func release() { easy.releaseRequest() }
}

extension CourierTransfer: TransferDelegate {
    func head(_ line: Span<UInt8>) -> Bool { answer.take(line) }

    func body(_ bytes: Span<UInt8>) -> Bool {
        bodyBytes += bytes.count
        return bodyBytes <= settings.limits.bodyLimit
    }

    /// Judges the address, unless there is a proxy: the proxy is the operator's choice, and only its address is
    /// seen here.
    func mayConnect(to address: [UInt8]?, port: UInt16) -> Bool {
        guard settings.limits.proxy == nil else { return true }
        guard let address else {
            refusal = "an address that is neither IPv4 nor IPv6"
            return false
        }
        let host = HostPort(url)?.host ?? ""
        guard let reason = settings.judge(host, CourierAddress(bytes: address, port: port)) else {
            isJudged = true
            return true
        }
        // A refused address says more than another address of the host where nobody listens.
        refusal = reason
        return false
    }

    /// Judges a kept connection again, as the rules may have changed since it was made.
    func mayUse(_ address: String, port: UInt16) -> Bool {
        isJudged || mayConnect(to: IPAddress(address)?.bytes, port: port)
    }
}

extension DeliveryFailure {
    /// Makes the failure that a code of libcurl other than `.ok` means, where nothing more is known.
    ///
    /// A failure on this side (no memory, say) counts as an interruption: another attempt may succeed.
    init(_ code: CurlCode) {
        switch code {
        case .hostNotResolved, .proxyNotResolved: self = .unresolved
        case .notConnected, .proxyFailed, .interfaceFailed: self = .unreachable
        case _ where code.isTLSFailure: self = .untrusted
        case .timedOut: self = .timedOut
        // A head that is refused ends as a failed write; a URL that is refused was never sent.
        case .weirdAnswer, .badContentEncoding, .writeError, .unsupportedProtocol, .malformedURL, .loginDenied:
            self = .malformed
        // All other codes: `sendError`, `receiveError`, `gotNothing`, `partialAnswer` and `http2Stream` among them,
        // and `http2`, which libcurl also reports where a server ends a busy connection.
        default: self = .interrupted
        }
    }
}
