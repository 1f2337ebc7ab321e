import Glibc
import Platform

/// A program that a test starts. Unlike Foundation's, it may be waited for on any thread.
package final class ChildProcess: Sendable {
    /// The program could not be started.
    package struct NotStarted: Error, CustomStringConvertible {
        package let description: String
    }

    package let pid: Int32
    private let status = Guarded<Int32?>(nil)

    /// Starts the program `arguments[0]`, looked for in PATH. The program's output is appended to the file `output`.
    package init(_ arguments: [String], output: String = "/dev/null") throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // The tests' threads block signals, and a program would inherit that.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var texts: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
        unsafe texts.append(nil)
        defer { for index in unsafe texts.indices { unsafe free(texts[index]) } }
        var made = pid_t()
        let result = unsafe posix_spawnp(&made, arguments[0], &actions, &attributes, texts, environ)
        guard result == 0 else { throw NotStarted(description: "\(arguments[0]) can't be started: errno \(result)") }
        pid = made
    }

    /// Whether the program has not ended.
    package var isRunning: Bool { look(WNOHANG) == nil }

    /// Waits for the program's end. Returns its exit status, or 128 plus the number of the signal that ended it.
    @discardableResult
    package func wait() -> Int32 { look(0) ?? -1 }

    /// Runs a program to its end.
    package static func run(_ arguments: String...) throws -> Int32 { try ChildProcess(arguments).wait() }

    private func look(_ options: Int32) -> Int32? {
        status.withLock { status in
            if let status { return status }
            var raw: Int32 = 0
            guard unsafe waitpid(pid, &raw, options) == pid else { return nil }
            let signal = raw & 0x7f
            status = signal == 0 ? raw >> 8 & 0xff : 128 + signal
            return status
        }
    }
}
