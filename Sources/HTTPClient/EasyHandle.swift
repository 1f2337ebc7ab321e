import CCurl

/// A handle of libcurl's easy interface: keeps its connection from one request to the next. Confined to one thread.
@safe final class EasyHandle {
    private let handle: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var lines: UnsafeMutablePointer<curl_slist>?

    private static let hasStarted: Bool = ccurl_start() == CURLE_OK

    /// Nil where libcurl can't start: no memory, or no random numbers.
    init?() {
        guard Self.hasStarted, let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(lines)
        unsafe errorText.deallocate()
    }

    /// Sets everything for a request anew; connections and the DNS cache stay.
    ///
    /// - Parameter timeoutMs: for the whole exchange; nil for none, but connecting never takes longer than 10 s.
    func prepare(_ request: HTTPRequest, _ address: ServerAddress, timeoutMs: Int?) -> CURLcode {
        unsafe curl_easy_reset(handle)
        unsafe curl_slist_free_all(lines)
        unsafe lines = nil
        unsafe errorText.update(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe ccurl_set_error_buffer(handle, errorText)
        for line in request.lines {
            guard let longer = unsafe curl_slist_append(lines, line) else { return CURLE_OUT_OF_MEMORY }
            unsafe lines = longer
        }
        var code = unsafe ccurl_set_headers(handle, lines)
        func set(_ option: CURLoption, _ text: String) {
            if code == CURLE_OK { code = unsafe ccurl_set_text(handle, option, text) }
        }
        func set(_ option: CURLoption, _ number: Int) {
            if code == CURLE_OK { code = unsafe ccurl_set_number(handle, option, number) }
        }
        set(CURLOPT_URL, address.base + request.target)
        if let path = address.socketPath { set(CURLOPT_UNIX_SOCKET_PATH, path) }
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        // A path goes out as it is, dots included, and no proxy of the environment comes between.
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_NOPROXY, "*")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_NOPROGRESS, 0)
        set(CURLOPT_CONNECTTIMEOUT_MS, min(10_000, timeoutMs ?? .max))
        if let timeoutMs { set(CURLOPT_TIMEOUT_MS, timeoutMs) }
        switch request.method {
        case .get: set(CURLOPT_HTTPGET, 1)
        case .head: set(CURLOPT_NOBODY, 1)
        case .post, .put, .patch, .delete: set(CURLOPT_POST, 1)
        }
        if request.method == .head { return code }
        if request.body != nil || request.method != .get { setBody(request.body ?? [], &code) }
        set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        return code
    }

    private func setBody(_ body: [UInt8], _ code: inout CURLcode) {
        guard code == CURLE_OK else { return }
        // An empty array may have no address, and none would mean "read it from a callback".
        let bytes = body.isEmpty ? [0] : body
        code = unsafe bytes.withUnsafeBytes { unsafe ccurl_set_body(handle, $0.baseAddress, body.count) }
    }

    /// Runs what was prepared to its end; blocks.
    func perform(_ transfer: Transfer) -> CURLcode {
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        let code = unsafe ccurl_set_sinks(handle, takeHead, takeBody, takePulse, context)
        guard code == CURLE_OK else { return code }
        return withExtendedLifetime(transfer) { unsafe curl_easy_perform(handle) }
    }

    /// What `code` means for the last request.
    func reason(_ code: CURLcode) -> String {
        let detail = unsafe String(cString: errorText)
        return detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
    }
}

// libcurl's threads of control are its caller's: the three run inside `perform`, where the transfer is alive.

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

private func takePulse(
    _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> CInt {
    guard let context = unsafe context else { return 1 }
    return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().pulse() ? 0 : 1
}

private func take(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
    _ body: (Transfer, [UInt8]) -> Bool
) -> Int {
    guard count > 0 else { return 0 }
    guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let piece = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    // Any count but the one given ends the transfer; 0 would not for an empty piece, which is answered above.
    return body(transfer, piece) ? count : 0
}
