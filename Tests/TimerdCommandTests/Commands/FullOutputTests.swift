import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

/// Commands whose output can't be written: each fails.
struct FullOutputTests {
    private static let alone = [
        "--help", "help list", "list --help", "--version", "version", "kick --help", "preview @daily",
        "preview @daily --json", "serve --check", "completion bash", "completion zsh", "completion fish",
    ]

    private static let asking = [
        "health", "stats", "stats --json", "list", "list --json", "list --sort nextFireAt", "list --all", "get tea",
        "get tea --json", "next tea", "next tea --json", "suspend calm", "resume held --json", "fire tea",
        "reschedule tea --after 2h", "patch tea --body {}", "create --after 1h", "create --after 1h --json",
        "bulk suspend --label a=b --dry-run", "batch /dev/null", "apply /dev/null", "events", "events --json",
        "watch --since 0 --limit 1", "watch --since 0 --limit 1 --json", "deliveries", "deliveries list --json",
        "redrive --timer tea", "export", "delete tea",
    ]

    /// Runs a command whose standard output is full, and expects it to fail.
    private func expectRefusal(_ line: String, _ variables: [String: String] = [:]) {
        let record = ConsoleCapture(isFull: true)
        let code = Console.$record.withValue(record) {
            Environment.$current.withValue(Environment(variables)) {
                Timerd.run(line.split(separator: " ").map(String.init))
            }
        }
        #expect(code == 1)
        #expect(record.output == "")
        #expect(record.errors == "timerd: can't write to standard output: No space left on device\n")
    }

    @Test(arguments: alone)
    func `what can't be written is an error`(line: String) { expectRefusal(line) }

    @Test func `so it is where a server was asked`() throws {
        let server = try WholeServer()
        for line in [
            "create tea --every 1h", "create calm --every 1h", "create held --every 1h --label a=b", "suspend held",
        ] { _ = try server.run(line.split(separator: " ").map(String.init)).printed() }
        for line in Self.asking { expectRefusal(line, ["TIMERD_SERVER": try server.url]) }
    }
}
