import Glibc

/// The environment, read once at start. The other modules never read it: they are passed what they need.
struct Environment {
    /// For development: where it is set, every hold of the engine's lock is measured.
    static let measureHolds = Setting.prefix + "MEASURE_HOLDS"

    /// The socket on which the service manager wants to be told how the server is.
    static let notifySocket = "NOTIFY_SOCKET"
    /// Within how many microseconds the service manager wants a sign of life.
    static let watchdogInterval = "WATCHDOG_USEC"
    /// Of which process it wants that; every one where it does not say.
    static let watchdogProcess = "WATCHDOG_PID"
    /// How many listening sockets the service manager has passed on.
    static let passedCount = "LISTEN_FDS"
    /// To which process.
    static let passedTo = "LISTEN_PID"
    /// What they are called, which is not used.
    static let passedNames = "LISTEN_FDNAMES"

    /// The environment of the command that runs: the process's own, unless the command runs inside another program.
    @TaskLocal static var current = Environment()

    /// The id of this process.
    static var process: Int32 { getpid() }

    private let variables: [String: String]

    /// An environment of these variables alone.
    init(_ variables: [String: String]) { self.variables = variables }

    /// The process's own.
    init() {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let line = unsafe String(cString: text)
            if let equals = line.firstIndex(of: "=") {
                variables[String(line[..<equals])] = String(line[line.index(after: equals)...])
            }
            unsafe entry += 1
        }
        self.variables = variables
    }

    /// Removes what the service manager meant for this process alone, so that no child takes it for its own. Before other
    /// threads read the environment.
    static func forgetServiceManager() {
        for name in [notifySocket, watchdogInterval, watchdogProcess, passedCount, passedTo, passedNames] {
            unsafe unsetenv(name)
        }
    }

    /// The value of a variable; nil where it is not set.
    subscript(name: String) -> String? { variables[name] }

    /// Variables with the prefix that are no settings, sorted: probably misspelt.
    var unknown: [String] {
        let known = Set(Setting.all.map(\.variable) + [Self.measureHolds])
        return variables.keys.filter { $0.hasPrefix(Setting.prefix) && !known.contains($0) }.sorted()
    }
}
