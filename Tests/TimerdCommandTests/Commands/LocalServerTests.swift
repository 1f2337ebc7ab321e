import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

/// The places in which a server of this machine is looked for.
struct LocalServerTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func urls(data: String? = nil, _ variables: [String: String] = [:]) throws -> [String] {
        try LocalServer.urls(data: data, Environment(variables))
    }

    @Test func `the addresses that a server wrote into its directory come first, on loopback`() throws {
        try directory.write(
            "listeners", Data("http://0.0.0.0:8081\nhttp://[::]:1\nunix:/run/x\nunix:@name\nnonsense\n".utf8))
        let found = ["http://127.0.0.1:8081", "http://[::1]:1", "unix:/run/x"]
        #expect(try urls(data: directory.path) == found)
        #expect(try urls(["TIMERD_DATA": directory.path, "TIMERD_LISTEN": "127.0.0.1:9"]) == found)
    }

    @Test func `else those of the settings count`() throws {
        let nowhere = ["TIMERD_DATA": directory.path]
        #expect(try urls(nowhere) == ["http://127.0.0.1:8080"])
        #expect(
            try urls(nowhere.merging(["TIMERD_LISTEN": "0.0.0.0:9,unix:/x"]) { $1 }) == [
                "http://127.0.0.1:9", "unix:/x",
            ])
        #expect(try urls(["TIMERD_STORE": "memory", "TIMERD_LISTEN": "[::]:9"]) == ["http://[::1]:9"])
    }

    @Test func `a directory that no server runs on, and a port that is not known, are failures`() {
        let absent = #expect(throws: Failure.self) { try urls(data: directory.path) }
        #expect(absent?.code == .other)
        #expect(absent?.line.hasSuffix("no server runs on that directory") == true)
        let unknown = #expect(throws: Failure.self) {
            try urls(["TIMERD_DATA": directory.path, "TIMERD_LISTEN": "127.0.0.1:0"])
        }
        #expect(unknown?.code == .other)
        #expect(unknown?.line.contains("say --server or --data") == true)
    }
}
