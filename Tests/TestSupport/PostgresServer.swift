import Foundation
import Glibc
import Platform

/// A real PostgreSQL server of the test's own, on a Unix socket in a directory of its own. It ends with the object.
///
/// `initdb` runs once in a test process; each server starts with a copy of what it made. PostgreSQL refuses to run as
/// root, so then it runs as the user `postgres`.
package final class PostgresServer: Sendable {
    /// How a server is ended.
    package enum End: String, Sendable {
        /// Sessions are ended, everything is written out.
        case fast
        /// The server ends as in a crash: the next start replays the log.
        case immediate
    }

    /// A program that a test needs and this machine does not have.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// The folder of the server's programs; nil where they are not installed.
    package static let programs: String? = {
        let folders = (10...30).reversed().map { "/usr/lib/postgresql/\($0)/bin" } + ["/usr/bin", "/usr/local/bin"]
        return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    /// The folder of the socket.
    package let folder: String
    /// The address of the database, as user `postgres`.
    package var address: String { "host=\(folder) user=postgres dbname=postgres" }
    /// The path of the socket.
    package var socket: String { folder + "/.s.PGSQL.5432" }
    private let data: String
    private let settings: [String]
    private let process = Guarded<ChildProcess?>(nil)
    /// The folders of the servers that run, by process id: those of the last tests end with the test process.
    private static let running = Guarded<[pid_t: String]>([:])

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - isSynced: whether commits reach the disk; the tests of crashes end the process, not the machine.
    ///   - settings: further settings of the server, as `name=value`.
    ///   - data: the folder of the server's files, if not beside the socket.
    package init(isSynced: Bool = false, _ settings: [String] = [], data: String? = nil) throws {
        let template = try Self.template.get()
        folder = "/tmp/timerd-pg-\(getpid())-\(UUID().uuidString.prefix(8))"
        self.data = data ?? folder + "/data"
        self.settings = ["fsync=\(isSynced ? "on" : "off")"] + settings
        try Self.run("/bin/mkdir", "-m", "755", folder)
        try Self.run("/bin/cp", "-a", template + "/.", self.data)
        try Self.run("/bin/chmod", "700", self.data)
        if geteuid() == 0 { try Self.run("/bin/chown", "-R", "postgres", folder, self.data) }
        try start()
    }

    deinit {
        process.withLock { process in
            guard let process, process.isRunning else { return }
            Self.running.withLock { $0[process.pid] = nil }
            kill(process.pid, SIGCONT)
            // SIGQUIT ends it at once, with its backends.
            kill(process.pid, SIGQUIT)
            process.wait()
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Ends the server and starts it again.
    package func restart(_ end: End = .fast) throws {
        stop(end)
        try start()
    }

    /// Ends the server.
    package func stop(_ end: End = .fast) {
        process.withLock { process in
            guard let process else { return }
            kill(process.pid, end == .fast ? SIGINT : SIGQUIT)
            process.wait()
            Self.running.withLock { $0[process.pid] = nil }
        }
    }

    /// Starts the server after `stop`.
    package func start() throws {
        guard let programs = Self.programs else { throw Missing(description: "PostgreSQL's server") }
        let command =
            [programs + "/postgres", "-D", data, "-k", folder, "-c", "listen_addresses="]
            + settings.flatMap { ["-c", $0] }
        let made = try ChildProcess(Self.asServer + command, output: folder + "/log")
        process.withLock { $0 = made }
        Self.running.withLock { $0[made.pid] = folder }
        try eventually("the server is ready") {
            guard made.isRunning else { throw Missing(description: "the server did not start; see \(folder)/log") }
            return try ChildProcess.run(programs + "/pg_isready", "-q", "-h", folder) == 0
        }
    }

    /// Stops every process of the server (SIGSTOP), or continues them.
    package func pause(_ isPaused: Bool) throws {
        let pid = process.withLock { $0?.pid ?? 0 }
        let children = try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
        for pid in [pid] + children.split(separator: " ").compactMap({ Int32($0) }) {
            kill(pid, isPaused ? SIGSTOP : SIGCONT)
        }
    }

    /// The text of the server's log.
    package var log: String { (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "" }

    private static let template = Result<String, any Error> {
        guard let programs else { throw Missing(description: "PostgreSQL's server is not installed: make setup-tests") }
        let folder = "/tmp/timerd-pg-\(getpid())-template"
        try run("/bin/mkdir", "-m", "755", folder)
        atexit {
            let running = PostgresServer.running.withLock { $0 }
            for pid in running.keys {
                kill(pid, SIGCONT)
                kill(pid, SIGQUIT)
            }
            for (pid, folder) in running {
                // An ended child stays until its parent asks for it.
                waitpid(pid, nil, 0)
                try? FileManager.default.removeItem(atPath: folder)
            }
            try? FileManager.default.removeItem(atPath: "/tmp/timerd-pg-\(getpid())-template")
        }
        if geteuid() == 0 { try run("/bin/chown", "postgres", folder) }
        try run(
            asServer + [
                programs + "/initdb", "-D", folder + "/data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
                "--locale=C",
                "-N",
            ])
        return folder + "/data"
    }

    /// The words that a command begins with, to run as the server's user.
    package static let asServer =
        geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []

    private static func run(_ arguments: [String]) throws {
        guard try ChildProcess(arguments).wait() == 0 else {
            throw Missing(description: "\(arguments.joined(separator: " ")) failed")
        }
    }

    private static func run(_ arguments: String...) throws { try run(arguments) }
}
