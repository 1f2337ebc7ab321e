import Glibc
import Platform

/// SIGTERM and SIGINT, taken by a thread of their own instead of by a handler, which could do next to nothing.
///
/// The first asks for a clean stop; where nothing is served yet it ends the process, with nothing to lose. The second ends
/// it at once: the log is as safe then as after kill -9.
final class StopSignals: @unchecked Sendable {  // unchecked: what changes is guarded by `lock`
    private let lock = Lock()
    private var isServing = false
    private var isAskedToStop = false
    private var cleanUp: () -> Void = {}

    /// Blocks the signals. Call on the main thread before any other starts: threads inherit what is blocked.
    init() {
        var set = Self.set
        let blocked = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        precondition(blocked == 0, "signals that exist can be blocked")
        // A peer that goes away is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // A file-size limit is a full disk to the store, not an end to the program.
        signal(SIGXFSZ, SIG_IGN)
        _ = Thread(name: "signals") { [self] in listen() }
    }

    /// From here on, and until `serving`, a signal has `cleanUp` run before it ends the process.
    func recovering(_ cleanUp: @escaping @Sendable () -> Void) { lock.withLock { self.cleanUp = cleanUp } }

    /// From here on a signal stops cleanly.
    func serving() { lock.withLock { isServing = true } }

    /// Waits for the first signal.
    func wait() {
        lock.withLock {
            while !isAskedToStop { lock.wait() }
        }
    }

    private func listen() {
        Self.next()
        lock.withLock {
            if !isServing {
                cleanUp()
                _exit(0)
            }
            isAskedToStop = true
            lock.signal()
        }
        Self.next()
        _exit(Failure.Code.other.rawValue)
    }

    private static func next() {
        var set = Self.set
        var number: Int32 = 0
        while unsafe sigwait(&set, &number) != 0 {}
    }

    private static var set: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGTERM)
        unsafe sigaddset(&set, SIGINT)
        return set
    }
}
