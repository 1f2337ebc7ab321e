import Foundation
import TestSupport
import Testing

@testable import HTTPServer
@testable import TimerdCommand

/// The places in which a server of this machine is looked for.
struct LocalServerTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func urls(data: String? = nil, _ variables: [String: String] = [:]) throws -> [String] {
        try LocalServer.listeners(data: data, Environment(variables)).map(\.address.url)
    }

    @Test func `the addresses that a server wrote into its directory come first, on loopback`() throws {
        try directory.write(
            "listeners", Data("http://0.0.0.0:8081\nhttp://[::]:1\nunix:/run/x\nunix:@name\nnonsense\n".utf8))
        let found = ["http://127.0.0.1:8081", "http://[::1]:1", "unix:/run/x"]
        #expect(try urls(data: directory.path) == found)
        #expect(try urls(["TIMERD_DATA": directory.path, "TIMERD_LISTEN": "127.0.0.1:9"]) == found)
    }

    @Test func `a listener with TLS has its key beside it`() throws {
        let written = [
            BoundAddress(address: .tcp(host: "0.0.0.0", port: 8443, isSecure: true)),
            BoundAddress(address: .tcp(host: "127.0.0.1", port: 1)), BoundAddress(address: .unix(path: "/run/a b")),
        ]
        try directory.write("tls.crt", Data(PEM.first.utf8))
        try directory.write("tls.key", Data(PEM.firstKey.utf8))
        let files = TLSFiles(certificate: directory.file("tls.crt"), key: directory.file("tls.key"))
        let identity = try TLSIdentity(files, files.read())
        let file = ListenersFile(directory: directory.path)
        #expect(file.write(written, identity))
        let listed = try LocalServer.listeners(data: directory.path, Environment([:]))
        #expect(listed.map(\.address.url) == ["https://127.0.0.1:8443", "http://127.0.0.1:1", "unix:/run/a b"])
        #expect(listed.map(\.pin) == [identity.pin, nil, nil])
        file.remove(written, nil)
        #expect(file.read().count == 3)
        file.remove(written, identity)
        #expect(file.read() == [])
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
