import CNghttp2

/// One side of an HTTP/2 connection, without its socket: bytes go in, events and bytes come out. Confined to one
/// thread.
///
/// The library keeps the rules of the protocol (RFC 9113): what a peer does against them ends the connection or the stream.
@safe final class HTTP2Session {
    /// The role of a side.
    enum Role: Sendable {
        /// Sends requests.
        case client
        /// Answers requests.
        case server
    }

    /// The bounds of a connection.
    struct Limits: Sendable {
        /// Streams that the peer may have open at once. Further requests wait at the peer.
        var streams: UInt32 = 4096
        /// Bytes of content that a peer may send on a stream in advance of `consume`.
        var streamWindow: Int32 = 64 * 1024
        /// Bytes of content that a peer may send on all streams of the connection together before they are received.
        /// A stream whose content is not consumed takes no part of it from the others.
        var connectionWindow: Int32 = 16 << 20
        /// Bytes that the names and values of a head may have.
        var headBytes: UInt32 = 16 * 1024

        /// The defaults.
        init() {}
    }

    /// Content on its way out.
    private struct Outgoing {
        var bytes: [UInt8] = []
        var sent = 0
        var isFinished = false
        /// Whether the library waits for `nghttp2_session_resume_data`.
        var isWaiting = false

        var waiting: Int { bytes.count - sent }
    }

    /// The receiver of the connection's events.
    weak var events: (any HTTP2Events)?
    private var session: OpaquePointer?
    private var outgoing: [Int32: Outgoing] = [:]
    /// The last stream that is taken: later ones are refused, as GOAWAY has named or will name this one.
    private var lastTaken = Int32.max
    /// Streams whose content was sent, and whose `contentSent` is still to be called.
    private var drained: [Int32] = []

    /// Makes a session; the first bytes to send are there at once.
    init(_ role: Role, _ limits: Limits = Limits()) {
        var callbacks: OpaquePointer?
        unsafe nghttp2_session_callbacks_new(&callbacks)
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, noteHead)
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, noteField)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, noteFrame)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, noteContent)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, noteClose)
        var option: OpaquePointer?
        unsafe nghttp2_option_new(&option)
        unsafe nghttp2_option_set_no_auto_window_update(option, 1)
        // Closed streams are of use for priorities alone, which nobody here sets.
        unsafe nghttp2_option_set_no_closed_streams(option, 1)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        switch role {
        case .client: unsafe nghttp2_session_client_new2(&session, callbacks, context, option)
        case .server: unsafe nghttp2_session_server_new2(&session, callbacks, context, option)
        }
        unsafe nghttp2_option_del(option)
        unsafe nghttp2_session_callbacks_del(callbacks)
        precondition(unsafe session != nil, "there is memory for a connection")
        submitSettings(limits)
    }

    deinit { unsafe nghttp2_session_del(session) }

    private func submitSettings(_ limits: Limits) {
        let settings = [
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(limits.streamWindow)),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.headBytes),
            (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
        ].map { id, value in nghttp2_settings_entry(settings_id: Int32(bitPattern: id.rawValue), value: value) }
        unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        unsafe nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, limits.connectionWindow)
    }

    // MARK: Bytes

    /// Takes bytes that came. Returns false where the connection is to be closed: its peer does not speak HTTP/2.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let data = unsafe bytes.bindMemory(to: UInt8.self)
        return unsafe nghttp2_session_mem_recv(session, data.baseAddress, data.count) == bytes.count
    }

    /// Hands `body` the bytes to send next, until there are none or it returns false; `body` takes all bytes that
    /// it is handed in either case. Returns false where the connection is to be closed.
    func send(_ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        while true {
            var bytes: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(session, &bytes)
            if count < 0 { return false }
            let goesOn = unsafe count > 0 && body(UnsafeRawBufferPointer(start: bytes, count: count))
            if goesOn { continue }
            if drained.isEmpty { return true }
            // The owners of these streams may write on, which gives the library more to send.
            for stream in drained { events?.contentSent(stream) }
            drained.removeAll(keepingCapacity: true)
            if count > 0 { return true }
        }
    }

    /// Whether the connection is over: nothing is to be read or written any more.
    var isOver: Bool {
        unsafe nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    // MARK: Streams

    /// Sends a request. Returns its stream; nil where the connection takes no more requests.
    ///
    /// - Parameter content: the body; nil for a request without one.
    func request(_ fields: HTTP2Fields, content: [UInt8]?) -> Int32? {
        let id = unsafe withValues(of: fields) { values, count in
            var provider = unsafe Self.provider
            let hasContent = content != nil
            return unsafe withUnsafePointer(to: &provider) { provider in
                unsafe nghttp2_submit_request(session, nil, values, count, hasContent ? provider : nil, nil)
            }
        }
        guard id > 0 else { return nil }
        if let content { outgoing[id] = Outgoing(bytes: content, isFinished: true) }
        return id
    }

    /// Answers the request of a stream.
    ///
    /// - Parameters:
    ///   - content: the body; nil for an answer without one.
    ///   - isWhole: false where `write` goes on.
    func respond(_ stream: Int32, _ fields: HTTP2Fields, content: [UInt8]?, isWhole: Bool = true) {
        if let content { outgoing[stream] = Outgoing(bytes: content, isFinished: isWhole) }
        _ = unsafe withValues(of: fields) { values, count in
            var provider = unsafe Self.provider
            let hasContent = content != nil
            return unsafe withUnsafePointer(to: &provider) { provider in
                unsafe nghttp2_submit_response(session, stream, values, count, hasContent ? provider : nil)
            }
        }
    }

    /// Sends an interim response ahead of the answer of a stream.
    func inform(_ stream: Int32, _ fields: HTTP2Fields) {
        _ = unsafe withValues(of: fields) { values, count in
            unsafe nghttp2_submit_headers(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, values, count, nil)
        }
    }

    /// Adds content to an answer that is not whole yet.
    func write(_ stream: Int32, _ bytes: ArraySlice<UInt8>) {
        guard let place = outgoing.index(forKey: stream), !outgoing.values[place].isFinished else { return }
        // The content is taken out, so that its bytes are changed in place.
        var content = outgoing.remove(at: place).value
        if content.sent > 0 {
            content.bytes.removeSubrange(..<content.sent)
            content.sent = 0
        }
        content.bytes.append(contentsOf: bytes)
        goOn(stream, content)
    }

    /// Ends an answer's content.
    func finish(_ stream: Int32) {
        guard var content = outgoing.removeValue(forKey: stream) else { return }
        content.isFinished = true
        goOn(stream, content)
    }

    private func goOn(_ stream: Int32, _ content: Outgoing) {
        var content = content
        let isWaiting = content.isWaiting
        content.isWaiting = false
        outgoing[stream] = content
        if isWaiting { unsafe nghttp2_session_resume_data(session, stream) }
    }

    /// The number of bytes of a stream's content that were not handed out yet.
    func waitingBytes(_ stream: Int32) -> Int { outgoing[stream]?.waiting ?? 0 }

    /// Cancels a stream. `HTTP2Events.streamClosed` follows.
    func cancel(_ stream: Int32) {
        unsafe nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, UInt32(NGHTTP2_CANCEL.rawValue))
    }

    /// Reports to the peer that `count` bytes of a stream's content are processed.
    func consume(_ stream: Int32, _ count: Int) {
        unsafe nghttp2_session_consume_stream(session, stream, count)
    }

    /// Sends a PING, which the peer answers: any bytes from the peer show that it is alive.
    func ping() {
        unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Sends a GOAWAY: no further streams are taken, and those under way go on.
    func leave() {
        lastTaken = min(lastTaken, unsafe nghttp2_session_get_last_proc_stream_id(session))
        unsafe nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastTaken, UInt32(NGHTTP2_NO_ERROR.rawValue), nil, 0)
    }

    private func withValues<Result>(
        of fields: HTTP2Fields, _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result
    ) -> Result {
        unsafe fields.bytes.withUnsafeBufferPointer { bytes in
            let base = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
            let values = unsafe fields.fields.map { field in
                let flag = field.isRare ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                return unsafe nghttp2_nv(
                    name: base.map { unsafe $0 + field.name.lowerBound },
                    value: base.map { unsafe $0 + field.value.lowerBound },
                    namelen: field.name.count, valuelen: field.value.count, flags: UInt8(flag.rawValue))
            }
            return unsafe values.withUnsafeBufferPointer { values in
                unsafe body(values.baseAddress, values.count)
            }
        }
    }

    // MARK: From the library

    private static var provider: nghttp2_data_provider {
        unsafe nghttp2_data_provider(source: nghttp2_data_source(), read_callback: readContent)
    }

    /// Copies the next bytes of a stream's content into `buffer`.
    fileprivate func takeContent(
        _ stream: Int32, _ buffer: UnsafeMutableRawBufferPointer, _ flags: UnsafeMutablePointer<UInt32>?
    ) -> Int {
        guard var content = outgoing.removeValue(forKey: stream) else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let count = min(buffer.count, content.waiting)
        if count == 0 && !content.isFinished {
            content.isWaiting = true
            content.bytes = []
            content.sent = 0
            outgoing[stream] = content
            drained.append(stream)
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
        unsafe content.bytes.withUnsafeBytes { bytes in
            unsafe buffer.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[content.sent..<content.sent + count]))
        }
        content.sent += count
        if content.isFinished && content.waiting == 0 {
            if let flags = unsafe flags { unsafe flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        } else {
            outgoing[stream] = content
        }
        return count
    }

    /// Takes note of a stream's head; refuses the stream if it comes between `leave` and the departure of the GOAWAY,
    /// which says that nobody looks at the stream.
    fileprivate func headBegan(_ stream: Int32) {
        if stream <= lastTaken { return events?.headBegan(stream) ?? () }
        unsafe nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_REFUSED_STREAM.rawValue)
    }

    fileprivate func fieldCame(_ stream: Int32, name: Span<UInt8>, value: Span<UInt8>) {
        if stream <= lastTaken { events?.fieldCame(stream, name: name, value: value) }
    }

    fileprivate func contentCame(_ stream: Int32, _ bytes: Span<UInt8>) {
        unsafe nghttp2_session_consume_connection(session, bytes.count)
        if stream <= lastTaken { events?.contentCame(stream, bytes) }
    }

    fileprivate func frameCame(_ frame: UnsafePointer<nghttp2_frame>) {
        let stream = unsafe cnghttp2_stream(frame)
        let type = unsafe cnghttp2_type(frame)
        if type == NGHTTP2_GOAWAY.rawValue {
            return unsafe events?.goAwayCame(last: frame.pointee.goaway.last_stream_id) ?? ()
        }
        guard type == NGHTTP2_HEADERS.rawValue || type == NGHTTP2_DATA.rawValue, stream <= lastTaken else { return }
        if type == NGHTTP2_HEADERS.rawValue { events?.headEnded(stream) }
        if unsafe cnghttp2_ends_stream(frame) != 0 { events?.contentEnded(stream) }
    }

    fileprivate func streamClosed(_ stream: Int32, isRefused: Bool) {
        outgoing[stream] = nil
        events?.streamClosed(stream, isRefused: isRefused)
    }
}

/// The receiver of a connection's events, called from within `HTTP2Session.receive` and `send`. A stream is named
/// by its number.
protocol HTTP2Events: AnyObject {
    /// A head begins: of a request at a server, of an answer at a client.
    func headBegan(_ stream: Int32)
    /// A field of the head that has begun. Pseudo fields begin with a colon; names are in small letters.
    func fieldCame(_ stream: Int32, name: Span<UInt8>, value: Span<UInt8>)
    /// The head is complete.
    func headEnded(_ stream: Int32)
    /// Content came. Its sender may send as much again once `HTTP2Session.consume` was called.
    func contentCame(_ stream: Int32, _ bytes: Span<UInt8>)
    /// The peer has sent everything.
    func contentEnded(_ stream: Int32)
    /// Everything that was written is sent, and more may be written.
    func contentSent(_ stream: Int32)
    /// The stream is over: after both sides have sent everything, or because one has aborted it.
    ///
    /// - Parameter isRefused: whether the peer reports that it has not looked at the request (RFC 9113,
    ///   REFUSED_STREAM).
    func streamClosed(_ stream: Int32, isRefused: Bool)
    /// The peer takes no further streams, and has not looked at those with higher numbers than `last`.
    func goAwayCame(last: Int32)
}

// MARK: - Callbacks of the library, always from `receive` or `send`

private func session(_ context: UnsafeMutableRawPointer?) -> HTTP2Session? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<HTTP2Session>.fromOpaque(context).takeUnretainedValue()
}

private func noteHead(
    _ library: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    if let frame = unsafe frame { unsafe session(context)?.headBegan(cnghttp2_stream(frame)) }
    return 0
}

private func noteField(
    _ library: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?,
    _ nameCount: Int, _ value: UnsafePointer<UInt8>?, _ valueCount: Int, _ flags: UInt8,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return 0 }
    let (name, value) = unsafe (
        UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount)
    )
    unsafe session(context)?.fieldCame(cnghttp2_stream(frame), name: name.span, value: value.span)
    return 0
}

private func noteFrame(
    _ library: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    if let frame = unsafe frame { unsafe session(context)?.frameCame(frame) }
    return 0
}

private func noteContent(
    _ library: OpaquePointer?, _ flags: UInt8, _ stream: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    let content = unsafe UnsafeBufferPointer(start: bytes, count: count)
    unsafe session(context)?.contentCame(stream, content.span)
    return 0
}

private func noteClose(
    _ library: OpaquePointer?, _ stream: Int32, _ code: UInt32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe session(context)?.streamClosed(stream, isRefused: code == NGHTTP2_REFUSED_STREAM.rawValue)
    return 0
}

private func readContent(
    _ library: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    unsafe session(context)?.takeContent(stream, UnsafeMutableRawBufferPointer(start: buffer, count: count), flags)
        ?? Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
}
