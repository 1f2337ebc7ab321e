import CTLS

/// The server's side of one TLS connection over a socket that does not block. Confined to one thread.
///
/// The socket belongs to the caller, who keeps it open as long as the session is used.
@safe public final class TLSSession {
    /// The outcome of a call.
    public enum Outcome: Equatable {
        /// So many bytes were read or written, at least one; for a handshake: it is done.
        case done(Int)
        /// To be called again once the socket has bytes, or at once: a record without data was read.
        case wantsReading
        /// To be called again once the socket has room; a write then begins with the same bytes.
        case wantsWriting
        /// The peer sends nothing more.
        case ended
        /// The connection is broken; every further call fails.
        case failed
    }

    private let pointer: OpaquePointer
    /// The context, for its keys of tickets.
    private let context: TLSContext
    private var hasFailed = false

    /// Begins a session on `socket`; nil without memory.
    public init?(_ context: TLSContext, socket: Int32) {
        guard let made = unsafe ctls_session_make(context.pointer, socket) else { return nil }
        unsafe pointer = made
        self.context = context
    }

    deinit { unsafe ctls_session_free(pointer) }

    /// Takes the next step of the handshake, as far as the socket's bytes go.
    public func handshake() -> Outcome {
        hasFailed ? .failed : outcome(unsafe ctls_handshake(pointer))
    }

    /// The most bytes of a record.
    public static var mostRecordBytes: Int { 16 * 1024 }

    /// Reads at most one record into a buffer that is not empty.
    public func read(into bytes: UnsafeMutableRawBufferPointer) -> Outcome {
        hasFailed ? .failed : outcome(unsafe ctls_read(pointer, bytes.baseAddress, Int32(clamping: bytes.count)))
    }

    /// Writes at most one record (16 KiB) of bytes that are not empty. After `wantsWriting` the next write must begin
    /// with the same bytes, perhaps elsewhere in memory, and may have more after them.
    public func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        hasFailed ? .failed : outcome(unsafe ctls_write(pointer, bytes.baseAddress, Int32(clamping: bytes.count)))
    }

    /// Tells the peer that no bytes follow (close_notify), as far as the socket takes it. Reads are still possible.
    public func closeNotify() {
        if !hasFailed { unsafe ctls_close_notify(pointer) }
    }

    private func outcome(_ result: Int32) -> Outcome {
        switch result {
        case 1...: return .done(Int(result))
        case Int32(CTLS_WANTS_READING): return .wantsReading
        case Int32(CTLS_WANTS_WRITING): return .wantsWriting
        case Int32(CTLS_ENDED): return .ended
        default:
            hasFailed = true
            return .failed
        }
    }
}
