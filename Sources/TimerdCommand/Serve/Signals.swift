import Glibc
import Platform

/// SIGTERM, SIGINT and SIGHUP, taken by a thread of their own, since a signal handler may call next to nothing.
///
/// The first SIGTERM or SIGINT asks for a clean stop; before anything is served it ends the process, which has
/// nothing to lose. The second ends the process at once: the log is as safe then as after kill -9. SIGHUP asks for
/// a reload, where there is one; several SIGHUPs before the next reload are one.
final class Signals: Sendable {
    /// The request that a signal makes.
    enum Request {
        case reload, stop
    }

    private struct State {
        var isServing = false
        var isAskedToReload = false
        var isAskedToStop = false
        /// The reason of a stop that no signal asked for.
        var failure: Failure?
        var cleanUp: @Sendable () -> Void = {}
    }

    private let takesReloads: Bool
    private let state = Guarded(State())

    /// Blocks the signals. Must be called on the main thread before any other starts: threads inherit the mask.
    ///
    /// - Parameter takesReloads: whether SIGHUP asks for a reload; otherwise it ends the process, as is its
    ///   default.
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

    /// Makes a signal to stop run `cleanUp` before it ends the process, until `serving`.
    func recovering(_ cleanUp: @escaping @Sendable () -> Void) { state.withLock { $0.cleanUp = cleanUp } }

    /// Makes a signal to stop ask for a clean stop from now on.
    func serving() { state.withLock { $0.isServing = true } }

    /// Whether a signal or a failure asked to stop.
    var isAskedToStop: Bool { state.withLock { $0.isAskedToStop } }

    /// Asks for a clean stop, as a signal does; the first failure is the reason.
    func stop(for failure: Failure) {
        state.update { state in
            if state.failure == nil { state.failure = failure }
            state.isAskedToStop = true
        }
    }

    /// The reason of a stop that no signal asked for; nil while there is none.
    var failure: Failure? { state.withLock { $0.failure } }

    /// Waits for the next request; a stop comes before a reload.
    func next() -> Request { state.wait(Self.takeRequest) }

    /// Waits like `next()`, for at most `nanoseconds`; returns nil where no request came by then.
    func next(within nanoseconds: Int64) -> Request? { state.wait(nanoseconds: nanoseconds, Self.takeRequest) }

    private static func takeRequest(_ state: inout State) -> Request? {
        guard state.isAskedToStop || state.isAskedToReload else { return nil }
        state.isAskedToReload = false
        return state.isAskedToStop ? .stop : .reload
    }

    private func listen() {
        while true {
            let number = take()
            state.update { state in
                if number == SIGHUP { state.isAskedToReload = true } else { Self.askToStop(&state) }
            }
        }
    }

    private static func askToStop(_ state: inout State) {
        if !state.isServing {
            state.cleanUp()
            _exit(0)
        }
        if state.isAskedToStop { _exit(Failure.Code.other.rawValue) }
        state.isAskedToStop = true
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
