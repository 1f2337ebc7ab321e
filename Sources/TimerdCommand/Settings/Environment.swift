import Glibc
import HTTPServer

/// The environment, read once at start. The other modules never read it: they are passed what they need.
struct Environment {
    /// A development variable: if it is set, every hold of the engine's lock is measured.
    static let measureHolds = Setting.prefix + "MEASURE_HOLDS"

    /// The variable with the socket on which the service manager takes notifications.
    static let notifySocket = "NOTIFY_SOCKET"
    /// The variable with the watchdog's timeout in microseconds, within which the service manager wants a sign of
    /// life.
    static let watchdogInterval = "WATCHDOG_USEC"
    /// The variable with the process whose signs of life are wanted; where it is not set, they are wanted of any
    /// process.
    static let watchdogProcess = "WATCHDOG_PID"
    /// The variable with the number of listening sockets that the service manager passes on.
    static let passedCount = "LISTEN_FDS"
    /// The variable with the process that the sockets are passed to.
    static let passedTo = "LISTEN_PID"
    /// The variable with the sockets' names, with colons between them.
    static let passedNames = "LISTEN_FDNAMES"

    /// The environment of the command that runs: the process's own, unless the command runs inside another program.
    @TaskLocal static var current = Environment()

    /// The id of this process.
    static var process: Int32 { getpid() }

    private let variables: [String: String]

    /// Makes an environment of these variables alone.
    init(_ variables: [String: String]) { self.variables = variables }

    /// Reads the environment of this process.
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

    /// Removes the variables that the service manager meant for this process alone, so that no child takes them
    /// for its own. Must be called before other threads read the environment.
    static func unsetServiceManagerVariables() {
        for name in [notifySocket, watchdogInterval, watchdogProcess, passedCount, passedTo, passedNames] {
            unsafe unsetenv(name)
        }
    }

    /// The value of a variable; nil where it is not set.
    subscript(name: String) -> String? { variables[name] }

    /// The variables that have the prefix but are no settings, sorted; they are probably misspelt.
    var unknown: [String] {
        let known = Set(Setting.all.map(\.variable) + [Self.measureHolds])
        return variables.keys.filter { $0.hasPrefix(Setting.prefix) && !known.contains($0) }.sorted()
    }
}

/// The listening sockets that the service manager opened and passed on (socket activation): what `sd_listen_fds` reads.
enum PassedSockets {
    /// The first descriptor after the three standard ones.
    private static let first: Int32 = 3
    /// The name of sockets with TLS, `FileDescriptorName=` of systemd.
    private static let secureName = "https"

    /// Returns the passed sockets; none where none were passed to this process.
    ///
    /// - Throws: `unusable` where their number is not valid, or is over the most listeners.
    static func all(_ environment: Environment) throws(Failure) -> [PassedSocket] {
        guard environment[Environment.passedTo] == "\(Environment.process)",
            let text = environment[Environment.passedCount]
        else { return [] }
        guard let count = Int32(text), 0...Int32(ServeConfiguration.maximumListeners) ~= count else {
            throw Failure(
                .unusable,
                "\(Environment.passedCount) \(text): expected a number from 0 to \(ServeConfiguration.maximumListeners)"
            )
        }
        let names = (environment[Environment.passedNames] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return (0..<Int(count)).map { index in
            let isSecure = index < names.count && names[index] == secureName
            return PassedSocket(descriptor: first + Int32(index), isSecure: isSecure)
        }
    }
}
