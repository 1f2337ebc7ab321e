import Logging
import Platform

/// Reports the server's state to the service manager that started the process (systemd), as `sd_notify` would.
///
/// Until the server is ready the manager is asked for more time, as long as the start makes progress; then
/// readiness is reported, and from then on the watchdog of the manager is fed while the server is healthy. A
/// manager that can't be reached is reported once, and the server serves all the same.
final class ServiceManager: Sendable {
    private enum Phase {
        case starting, ready, stopping
    }

    private struct State {
        var phase = Phase.starting
        var isHealthy: @Sendable () -> Bool = { true }
        var isReady: @Sendable () -> Bool = { false }
        /// The first reason why the manager could not be reached; nil while there is none.
        var trouble: String?
        /// Whether trouble goes to the log at once. Before the server serves, trouble is held: a start that fails
        /// writes one line, with its reason.
        var isLogging = false
    }

    private let socket: NotifySocket?
    private let logger: Logger
    /// Nanoseconds between two checks of the server's state.
    private let pause: Int64
    private let feedsWatchdog: Bool
    private let state = Guarded(State())

    /// The longest time between two checks, in nanoseconds.
    private static let longestPause: Int64 = 1_000_000_000
    /// The shortest time between two checks in nanoseconds, whatever the manager asks for.
    private static let shortestPause: Int64 = 1_000_000
    /// The time that is asked for, in microseconds: long enough for several late checks.
    private static let extensionUs = 30_000_000

    /// Finds the manager that the environment names; nothing is sent to it before `starting`.
    ///
    /// - Throws: `unusable` where the watchdog's timeout is no valid number of microseconds.
    init(_ environment: Environment, _ logger: Logger) throws(Failure) {
        self.logger = logger
        socket = environment[Environment.notifySocket].flatMap { NotifySocket($0) }
        let interval = try Self.watchdogUs(environment)
        feedsWatchdog = interval != nil
        // The watchdog is fed twice within the time that the manager allows.
        let half = (interval ?? .max / 1000) * 1000 / 2
        pause = min(max(half, Self.shortestPause), Self.longestPause)
        if socket == nil, let name = environment[Environment.notifySocket] {
            state.withLock { $0.trouble = "\(Environment.notifySocket) \(name) is neither a path nor @name" }
        }
    }

    /// Returns the microseconds within which the manager wants a sign of life; nil where it wants none of this
    /// process.
    private static func watchdogUs(_ environment: Environment) throws(Failure) -> Int64? {
        let isForThis = environment[Environment.watchdogProcess].map { $0 == "\(Environment.process)" } ?? true
        guard isForThis, let text = environment[Environment.watchdogInterval] else { return nil }
        guard let number = Int64(text), 1...Int64.max / 1000 ~= number else {
            throw Failure(.unusable, "\(Environment.watchdogInterval) \(text): expected a number of microseconds")
        }
        return number
    }

    /// Asks the manager for time from now on, while `isHealthy` returns true.
    func starting(isHealthy: @escaping @Sendable () -> Bool) {
        guard socket != nil else { return }
        state.withLock { state in
            state.isHealthy = isHealthy
            look(&state)
        }
        Thread(name: "notify") { [self] in run() }.detach()
    }

    /// Reports readiness as soon as `isReady` returns true. To be called when the server begins to serve.
    func serving(isHealthy: @escaping @Sendable () -> Bool, isReady: @escaping @Sendable () -> Bool) {
        state.withLock { state in
            (state.isHealthy, state.isReady) = (isHealthy, isReady)
            state.isLogging = true
            if let trouble = state.trouble { log(trouble) }
            look(&state)
        }
    }

    /// Runs `reload` between the two messages about it; where the server is not ready yet, neither is sent.
    func reloading(_ reload: () -> Void) {
        let isReady = state.withLock { state in
            guard state.phase == .ready else { return false }
            send("RELOADING=1\nMONOTONIC_USEC=\(Clocks.monotonic() / 1000)", &state)
            return true
        }
        reload()
        if isReady { state.withLock { send("READY=1", &$0) } }
    }

    /// Reports that the server stops; nothing is sent after that.
    func stopping() {
        state.update { state in
            state.phase = .stopping
            send("STOPPING=1", &state)
        }
    }

    /// The body of the thread.
    private func run() {
        while state.wait(nanoseconds: pause, { $0.phase == .stopping ? () : nil }) == nil {
            state.withLock { look(&$0) }
        }
    }

    private func look(_ state: inout State) {
        switch state.phase {
        case .starting where state.isReady():
            state.phase = .ready
            send("READY=1", &state)
        case .starting where state.isHealthy(): send("EXTEND_TIMEOUT_USEC=\(Self.extensionUs)", &state)
        case .ready where feedsWatchdog && state.isHealthy(): send("WATCHDOG=1", &state)
        case .starting, .ready, .stopping: break
        }
    }

    private func send(_ text: String, _ state: inout State) {
        guard let socket else { return }
        let code = socket.send(text)
        guard code != 0, state.trouble == nil else { return }
        let trouble = "sending \(text.split(separator: "\n").first ?? "") failed, errno \(code)"
        state.trouble = trouble
        if state.isLogging { log(trouble) }
    }

    private func log(_ trouble: String) {
        logger.warning("the service manager could not be notified", metadata: ["reason": "\(trouble)"])
    }
}
