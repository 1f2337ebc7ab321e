import CCurl

/// A handle of libcurl's multi interface: many exchanges on one thread, with the connections and the names they share.
///
/// It is driven by sockets (`curl_multi_socket_action`) and epoll, so that an exchange that hangs costs nothing while
/// others go on: `curl_multi_perform` looks at every exchange each time.
@safe final class MultiHandle: @unchecked Sendable {  // unchecked: confined to the courier's thread but for `wake`
    /// What the exchanges wait for.
    let sockets = SocketWatch()
    private let handle: UnsafeMutableRawPointer

    /// - Parameter connections: how many are kept open for the next exchange; the one idle longest is closed first.
    init(connections: Int) {
        guard let handle = unsafe curl_multi_init() else {
            preconditionFailure("the process has memory for its courier at start")
        }
        unsafe self.handle = handle
        unsafe ccurl_multi_set_number(handle, CURLMOPT_MAXCONNECTS, connections)
        unsafe ccurl_multi_set_watcher(handle, watchSocket, Unmanaged.passUnretained(sockets).toOpaque())
    }

    deinit { unsafe curl_multi_cleanup(handle) }

    /// Begins an exchange, which moves from the next `perform` on. False where there is no memory.
    func add(_ exchange: ExchangeHandle) -> Bool {
        unsafe curl_multi_add_handle(handle, exchange.handle) == CURLM_OK
    }

    /// Takes an exchange out, ended or not.
    func remove(_ exchange: ExchangeHandle) {
        unsafe curl_multi_remove_handle(handle, exchange.handle)
    }

    /// Moves on what was added, what `wait` found to be ready, and what has reached a time limit.
    func perform() {
        sockets.forEachReady(act)
        act(-1, 0)  // CURL_SOCKET_TIMEOUT
    }

    private func act(_ socket: curl_socket_t, _ bits: Int32) {
        var running: Int32 = 0
        unsafe curl_multi_socket_action(handle, socket, bits, &running)
    }

    /// The next exchange that has ended, and how; take it out before asking again.
    func nextEnded() -> (exchange: ExchangeHandle, code: CURLcode)? {
        var code = CURLE_OK
        guard let context = unsafe ccurl_multi_next(handle, &code) else { return nil }
        return (unsafe Unmanaged<ExchangeHandle>.fromOpaque(context).takeUnretainedValue(), code)
    }

    /// Waits until an exchange can go on, `wake` is called, or the time is over.
    func wait(milliseconds: Int32) {
        var next = -1
        unsafe curl_multi_timeout(handle, &next)
        sockets.wait(milliseconds: next < 0 ? milliseconds : Int32(min(Int(milliseconds), next)))
    }

    /// Ends the `wait` under way or the next one. Any thread.
    func wake() { sockets.wake() }
}

/// Runs inside libcurl's calls, on the courier's thread, or as it is cleaned up.
private func watchSocket(
    _: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ interest: Int32, _ context: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue().watch(socket, interest)
    return 0
}
