import Glibc
import Platform

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
