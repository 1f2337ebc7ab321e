import CCurl

/// A handle of libcurl's multi interface: many exchanges on one thread, with the connections and the names they share.
@safe final class MultiHandle: @unchecked Sendable {  // unchecked: confined to the courier's thread but for `wake`
    private let handle: UnsafeMutableRawPointer

    /// - Parameter connections: how many are kept open for the next exchange; the one idle longest is closed first.
    init(connections: Int) {
        guard let handle = unsafe curl_multi_init() else {
            preconditionFailure("the process has memory for its courier at start")
        }
        unsafe self.handle = handle
        unsafe ccurl_multi_set_number(handle, CURLMOPT_MAXCONNECTS, connections)
    }

    deinit { unsafe curl_multi_cleanup(handle) }

    /// Begins an exchange. False where there is no memory.
    func add(_ exchange: ExchangeHandle) -> Bool {
        unsafe curl_multi_add_handle(handle, exchange.handle) == CURLM_OK
    }

    /// Takes an exchange out, ended or not.
    func remove(_ exchange: ExchangeHandle) {
        unsafe curl_multi_remove_handle(handle, exchange.handle)
    }

    /// Moves every exchange on as far as it goes without waiting.
    func perform() {
        var running: Int32 = 0
        unsafe curl_multi_perform(handle, &running)
    }

    /// The next exchange that has ended, and how; take it out before asking again.
    func nextEnded() -> (exchange: ExchangeHandle, code: CURLcode)? {
        var code = CURLE_OK
        guard let context = unsafe ccurl_multi_next(handle, &code) else { return nil }
        return (unsafe Unmanaged<ExchangeHandle>.fromOpaque(context).takeUnretainedValue(), code)
    }

    /// Waits until an exchange can go on, `wake` is called, or the time is over.
    func wait(milliseconds: Int32) {
        unsafe curl_multi_poll(handle, nil, 0, milliseconds, nil)
    }

    /// Ends the `wait` under way or the next one. Any thread.
    func wake() {
        unsafe curl_multi_wakeup(handle)
    }
}
