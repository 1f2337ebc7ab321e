import Glibc
import Platform

/// SIGTERM, SIGINT and SIGHUP, taken by a thread of their own instead of by a handler, which could do next to nothing.
///
/// The first SIGTERM or SIGINT asks for a clean stop; where nothing is served yet it ends the process, with nothing to lose.
/// The second ends it at once: the log is as safe then as after kill -9. SIGHUP asks for a reload, where there is one: any
/// number of them while nobody looks are one.
final class Signals: @unchecked Sendable {  // unchecked: what changes is guarded by `lock`
    /// What a signal asks for.
    enum Request {
        case reload, stop
    }

    private let takesReloads: Bool
    private let lock = Lock()
    private var isServing = false
    private var isAskedToReload = false
    private var isAskedToStop = false
    private var cleanUp: () -> Void = {}

    /// Blocks the signals. Call on the main thread before any other starts: threads inherit what is blocked.
    ///
    /// - Parameter takesReloads: SIGHUP asks for a reload; otherwise it ends the process, as it does by itself.
    init(takesReloads: Bool) {
        self.takesReloads = takesReloads
        var set = set
        let blocked = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        precondition(blocked == 0, "signals that exist can be blocked")
        // A peer that goes away is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // A file-size limit is a full disk to the store, not an end to the program.
        signal(SIGXFSZ, SIG_IGN)
        _ = Thread(name: "signals") { [self] in listen() }
    }

    /// From here on, and until `serving`, a signal to stop has `cleanUp` run before it ends the process.
    func recovering(_ cleanUp: @escaping @Sendable () -> Void) { lock.withLock { self.cleanUp = cleanUp } }

    /// From here on a signal to stop stops cleanly.
    func serving() { lock.withLock { isServing = true } }

    /// Waits until something is asked for; to stop comes before to reload.
    func next() -> Request {
        lock.withLock {
            while !isAskedToStop, !isAskedToReload { lock.wait() }
            isAskedToReload = false
            return isAskedToStop ? .stop : .reload
        }
    }

    private func listen() {
        while true {
            let number = take()
            lock.withLock {
                if number == SIGHUP { isAskedToReload = true } else { askToStop() }
                lock.broadcast()
            }
        }
    }

    private func askToStop() {
        if !isServing {
            cleanUp()
            _exit(0)
        }
        if isAskedToStop { _exit(Failure.Code.other.rawValue) }
        isAskedToStop = true
    }

    private func take() -> Int32 {
        var set = set
        var number: Int32 = 0
        while unsafe sigwait(&set, &number) != 0 {}
        return number
    }

    private var set: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGTERM)
        unsafe sigaddset(&set, SIGINT)
        if takesReloads { unsafe sigaddset(&set, SIGHUP) }
        return set
    }
}
