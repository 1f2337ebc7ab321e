import Glibc
import Platform

/// Standard output and standard error, unbuffered.
enum Console {
    /// The record that takes what the running command prints; nil in a process of its own, which prints to the two
    /// descriptors.
    @TaskLocal static var record: ConsoleCapture?

    /// The error number of the first write to standard output that failed; 0 while there is none.
    private static let fault = Guarded<Int32>(0)

    /// Writes a line to standard output. Returns false where the write failed, as when nobody reads it any more.
    @discardableResult
    static func out(_ line: String) -> Bool { out(bytes: Array((line + "\n").utf8)) }

    /// Writes bytes to standard output as they are. Returns false where the write failed, as when nobody reads it
    /// any more.
    @discardableResult
    static func out(bytes: [UInt8]) -> Bool {
        if write(bytes, to: STDOUT_FILENO) { return true }
        let code = errno
        (record?.fault ?? fault).withLock { if $0 == 0 { $0 = code } }
        return false
    }

    /// Writes a line to standard error.
    static func error(_ line: String) { write(Array((line + "\n").utf8), to: STDERR_FILENO) }

    /// Throws where something that was printed did not reach standard output; checked after every command, so that
    /// none can forget it. A reader that has gone away, as `head` does, ends the program as SIGPIPE does, also
    /// where its parent ignores that signal.
    static func checkOutput() throws(Failure) {
        let code = (record?.fault ?? fault).withLock { $0 }
        guard code != 0 else { return }
        if code == EPIPE {
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        throw Failure(.other, "can't write to standard output: \(unsafe String(cString: strerror(code)))")
    }

    /// Milliseconds that a write may take to complete a line once a signal has asked the process to end.
    private static let lastWriteMs: Int32 = 1000

    /// Writes the bytes in one call where the kernel lets it, so that lines of several threads do not mix. A
    /// signal that ends the program waits for the write, so that the last line is complete.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        if let record, let isWritten = record.take(bytes, for: descriptor) { return isWritten }
        return EndSignals.completing { writeAll(bytes, to: descriptor) }
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                guard errno == EINTR else { return false }
            } else {
                rest = rest.dropFirst(count)
            }
            // A reader that takes nothing must not keep the program from ending.
            if EndSignals.areTaken, !rest.isEmpty, rest.count == bytes.count || !isWritable(descriptor) { return false }
        }
        return true
    }

    private static func isWritable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, lastWriteMs) > 0
    }
}

/// The output of a command that runs inside another program, whose standard output and standard error are not the
/// command's.
final class ConsoleCapture: Sendable {
    private struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
    }

    /// The error number of the first write to the command's standard output that failed; 0 while there is none.
    let fault = Guarded<Int32>(0)
    private let isFull: Bool
    private let state = Guarded(State())

    /// - Parameter isFull: whether each write to standard output fails, as on a full disk.
    init(isFull: Bool = false) { self.isFull = isFull }

    /// The bytes that the command wrote to standard output.
    var output: String { String(decoding: state.withLock { $0.output }, as: UTF8.self) }
    /// The bytes that the command wrote to standard error.
    var errors: String { String(decoding: state.withLock { $0.errors }, as: UTF8.self) }

    /// Appends `bytes` to what was written to `descriptor`.
    ///
    /// - Returns: whether they were written; nil where `descriptor` is neither of the two, such as a file's.
    func take(_ bytes: [UInt8], for descriptor: Int32) -> Bool? {
        switch descriptor {
        case STDOUT_FILENO where isFull:
            errno = ENOSPC
            return false
        case STDOUT_FILENO: state.withLock { $0.output += bytes }
        case STDERR_FILENO: state.withLock { $0.errors += bytes }
        default: return nil
        }
        return true
    }
}
