import Glibc
import Platform
import TestSupport
import Testing

@testable import HTTPServer

struct ListenTests {
    @Test(arguments: [
        ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080), true),
        ("[::1]:8080", .tcp(host: "::1", port: 8080), true), ("0.0.0.0:0", .tcp(host: "0.0.0.0", port: 0), false),
        ("localhost:80", .tcp(host: "localhost", port: 80), true), ("[::]:1", .tcp(host: "::", port: 1), false),
        ("https://127.0.0.1:8443", .tcp(host: "127.0.0.1", port: 8443, isSecure: true), true),
        ("https://[::]:1", .tcp(host: "::", port: 1, isSecure: true), false),
        ("unix:/run/a.sock", .unix(path: "/run/a.sock"), true),
        ("unix:/a?mode=0660&group=www", .unix(path: "/a", access: SocketAccess(mode: 0o660, group: "www")), true),
        ("unix:a?group=33", .unix(path: "a", access: SocketAccess(group: "33")), true),
        ("unix:/a?mode=777", .unix(path: "/a", access: SocketAccess(mode: 0o777)), true),
    ])
    func `an address is read`(text: String, address: ListenAddress, isLoopback: Bool) throws {
        #expect(try ListenAddress(parsing: text) == address)
        #expect(address.isLoopback == isLoopback)
        #expect(address.isSecure == text.hasPrefix("https://"))
        if address.isSecure { #expect(address.url == text) }
    }

    @Test func `one processor is left to other threads, unless the loops encrypt`() throws {
        let (plain, secure) = (
            try ListenAddress(parsing: "127.0.0.1:0"), try ListenAddress(parsing: "https://127.0.0.1:0")
        )
        let all = Processors.usable()
        var configuration = ServerConfiguration(listeners: [plain])
        #expect(configuration.loops == max(1, all - 1))
        configuration.passedSockets = [PassedSocket(descriptor: 3, isSecure: true)]
        #expect(configuration.loops == all)
        #expect(ServerConfiguration(listeners: [plain, secure]).loops == all)
        #expect(ServerConfiguration(listeners: [secure], loops: 3).loops == 3)
    }

    @Test(arguments: [
        "https://127.0.0.1", "https://:8443", "http://127.0.0.1:80", "https://127.0.0.1:8443/",
        "", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "a:-1", ":80", "::1:80", "unix:", "a:+1",
        " 127.0.0.1:80", "127.0.0.1:80 ", "127.0.0.1 :80", "127.0.0.1:80,127.0.0.1:81", "127.0.0.1:80\n",
        "unix:?mode=0660", "unix:/a?", "unix:/a?mode=", "unix:/a?mode=66", "unix:/a?mode=0888", "unix:/a?mode=4755",
        "unix:/a?mode=0o660", "unix:/a?group=", "unix:/a?mode=0660&", "unix:/a?mode=0660&mode=0600", "unix:/a?user=www",
    ])
    func `what is no address is refused`(text: String) {
        #expect(throws: ListenError.self) { try ListenAddress(parsing: text) }
    }

    @Test func `several addresses in one text are told from an IPv6 address without brackets`() {
        let error = #expect(throws: ListenError.self) { try ListenAddress(parsing: "127.0.0.1:80, [::1]:8080") }
        #expect(error?.description.contains("neither blanks nor commas") == true)
    }

    @Test(arguments: ["127.0.0.1:0", "[::1]:80", "0.0.0.0:80", "[::]:80", "localhost:80", "unix:/run/a.sock"])
    func `an address that can be bound passes the check`(text: String) throws {
        try ListenAddress(parsing: text).check()
    }

    @Test(arguments: [
        ("*:80", "0.0.0.0"), ("example.com:80", "example.com is neither"), ("127.1:80", "neither an IP address"),
        ("[127.0.0.1:80", "neither an IP address"), ("unix:/" + String(repeating: "a", count: 107), "1 to 107 bytes"),
        ("unix:/a\u{0}b", "zero byte"), ("unix:/a?group=no-such-group", "no group no-such-group"),
    ])
    func `an address that can't be bound is refused without a socket`(text: String, reason: String) throws {
        let address = try ListenAddress(parsing: text)
        let error = #expect(throws: ListenError.self) { try address.check() }
        #expect(error?.description.contains(reason) == true)
    }

    @Test func `the bound address has the port`() throws {
        let server = try TestServer([.tcp(host: "127.0.0.1", port: 0), .tcp(host: "::1", port: 0)], loops: 2)
        let addresses = server.server.boundAddresses
        #expect(addresses[0].description == "http://127.0.0.1:\(try #require(addresses[0].port))")
        #expect(addresses[1].description == "http://[::1]:\(try #require(addresses[1].port))")
        #expect(addresses.allSatisfy { $0.port != 0 })
    }

    @Test(arguments: [1, 3])
    func `a passed socket is there once for each loop`(loops: Int) throws {
        let opened = try ListeningSocket.open(.tcp(host: "127.0.0.1", port: 0), index: 0, loops: 1)
        let passed = PassedSocket(descriptor: opened[0].descriptor)
        let sockets = try ListeningSocket.adopt(passed, index: 0, loops: loops)
        defer { for socket in sockets { close(socket.descriptor) } }
        #expect(sockets.count == loops)
        #expect(Set(sockets.map(\.descriptor)).count == loops)
    }

    @Test(arguments: [1, 2])
    func `a port in use is refused`(loops: Int) throws {
        let server = try TestServer(loops: loops)
        let error = #expect(throws: ListenError.self) {
            try TestServer([.tcp(host: "127.0.0.1", port: server.port)], loops: loops)
        }
        #expect(error?.description == "http://127.0.0.1:\(server.port): the address is in use")
    }

    @Test(arguments: [
        (ListenAddress.tcp(host: "nowhere", port: 0), "neither an IP address nor localhost"),
        (.tcp(host: "192.0.2.1", port: 0), "this machine has no such address"),
        (.unix(path: "/" + String(repeating: "a", count: 107)), "1 to 107 bytes"),
        (.unix(path: "/nonexistent/a.sock"), "No such file"), (.unix(path: "/dev/null"), "no socket"),
    ])
    func `what can't be bound is named`(address: ListenAddress, reason: String) {
        let error = #expect(throws: ListenError.self) { try TestServer([address]) }
        #expect(error?.description.contains(reason) == true)
    }

    @Test func `a server without listeners is refused`() {
        #expect(throws: ListenError.self) { try TestServer([]) }
    }

    @Test func `a Unix socket has the mode and the group that its address names`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("server.sock")
        // A process may give a file to its own groups without a privilege, and to any one with it.
        let group = geteuid() == 0 ? 1 : getegid()
        let server = try TestServer([try ListenAddress(parsing: "unix:\(path)?mode=0666&group=\(group)")])
        #expect(server.server.boundAddresses[0].description == "unix:\(path)")
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o666 && status.st_gid == group)
        #expect(RawClient(path: path).get("/")?.text == "hello")
    }

    @Test func `a Unix socket is its owner's, replaces a stale one, and goes with the server`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("server.sock")
        close(RawSocket.bound(toPath: path))
        do {
            let server = try TestServer([.unix(path: path)], loops: 2)
            #expect(server.server.boundAddresses[0].description == "unix:\(path)")
            var status = stat()
            #expect(unsafe lstat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            let client = RawClient(path: path)
            #expect(client.get("/")?.text == "hello")
            client.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
            #expect(client.head()?.status == 200)
            let error = #expect(throws: ListenError.self) { try TestServer([.unix(path: path)]) }
            #expect(error?.description == "unix:\(path): the address is in use")
            #expect(RawClient(path: path).get("/")?.text == "hello")
        }
        #expect(unsafe access(path, F_OK) != 0)
    }

    @Test func `a Unix socket that can't listen leaves no file`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("server.sock")
        let error = #expect(throws: ListenError.self) {
            _ = try ListeningSocket.openUnix(path, index: 0) { _, _ in
                #expect(unsafe access(path, F_OK) == 0)
                errno = ENOBUFS
                return -1
            }
        }
        #expect(error?.description == "unix:\(path): No buffer space available")
        #expect(unsafe access(path, F_OK) != 0)
    }

    @Test func `TCP and a Unix socket are served side by side`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("server.sock")
        let server = try TestServer([.tcp(host: "127.0.0.1", port: 0), .unix(path: path)], loops: 2)
        #expect(server.client().get("/")?.status == 200)
        #expect(RawClient(path: path).get("/")?.status == 200)
    }
}
