import Logging
import Platform

/// Tells the service manager that started the process (systemd) how the server is, as `sd_notify` would.
///
/// Until the server is ready the manager is asked for more time, as long as the start makes progress; then it is told so, and
/// from then on the watchdog of the manager is fed while the server is healthy. A manager that can't be told is reported
/// once, and the server serves all the same.
final class ServiceManager: Sendable {
    private enum Phase {
        case starting, ready, stopping
    }

    private struct State {
        var phase = Phase.starting
        var isHealthy: @Sendable () -> Bool = { true }
        var isReady: @Sendable () -> Bool = { false }
        /// Why it could not be told, once that was so.
        var trouble: String?
        /// Whether trouble goes to the log at once. Before the server serves it is held: a start that fails says one line, why.
        var isLogging = false
    }

    private let socket: NotifySocket?
    private let logger: Logger
    /// Nanoseconds from one look to the next.
    private let pause: Int64
    private let feedsWatchdog: Bool
    private let state = Guarded(State())

    /// The longest time between two looks, in nanoseconds.
    private static let longestPause: Int64 = 1_000_000_000
    /// The shortest, whatever the manager asks for.
    private static let shortestPause: Int64 = 1_000_000
    /// How much time is asked for, in microseconds: several looks may be late.
    private static let extensionUs = 30_000_000

    /// The manager that the environment names; it is told nothing before `starting`.
    ///
    /// - Throws: `unusable` where the manager wants a watchdog fed at a time that is none.
    init(_ environment: Environment, _ logger: Logger) throws(Failure) {
        self.logger = logger
        socket = environment[Environment.notifySocket].flatMap { NotifySocket($0) }
        let interval = try Self.watchdogUs(environment)
        feedsWatchdog = interval != nil
        // Twice within the time that the manager allows.
        let half = (interval ?? .max / 1000) * 1000 / 2
        pause = min(max(half, Self.shortestPause), Self.longestPause)
        if socket == nil, let name = environment[Environment.notifySocket] {
            state.withLock { $0.trouble = "\(Environment.notifySocket) \(name) is neither a path nor @name" }
        }
    }

    /// Within how many microseconds the manager wants a sign of life; nil where it wants none of this process.
    private static func watchdogUs(_ environment: Environment) throws(Failure) -> Int64? {
        let isForThis = environment[Environment.watchdogProcess].map { $0 == "\(Environment.process)" } ?? true
        guard isForThis, let text = environment[Environment.watchdogInterval] else { return nil }
        guard let number = Int64(text), 1...Int64.max / 1000 ~= number else {
            throw Failure(.unusable, "\(Environment.watchdogInterval) \(text): expected a number of microseconds")
        }
        return number
    }

    /// From now on the manager is asked for time while `isHealthy`.
    func starting(isHealthy: @escaping @Sendable () -> Bool) {
        guard socket != nil else { return }
        state.withLock { state in
            state.isHealthy = isHealthy
            look(&state)
        }
        Thread(name: "notify") { [self] in run() }.detach()
    }

    /// The server serves. The manager is told so as soon as it `isReady`.
    func serving(isHealthy: @escaping @Sendable () -> Bool, isReady: @escaping @Sendable () -> Bool) {
        state.withLock { state in
            (state.isHealthy, state.isReady) = (isHealthy, isReady)
            state.isLogging = true
            if let trouble = state.trouble { log(trouble) }
            look(&state)
        }
    }

    /// Runs `reload` between the two messages about it; a server that is not ready yet says nothing of it.
    func reloading(_ reload: () -> Void) {
        let isReady = state.withLock { state in
            guard state.phase == .ready else { return false }
            send("RELOADING=1\nMONOTONIC_USEC=\(Clocks.monotonic() / 1000)", &state)
            return true
        }
        reload()
        if isReady { state.withLock { send("READY=1", &$0) } }
    }

    /// The server stops; nothing follows.
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
        logger.warning("the service manager could not be told", metadata: ["reason": "\(trouble)"])
    }
}
