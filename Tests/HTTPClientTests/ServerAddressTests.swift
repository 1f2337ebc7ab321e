import HTTPClient
import Testing

struct ServerAddressTests {
    @Test(arguments: [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("http://[::1]:8080/", "http://[::1]:8080"),
        ("https://timers.example/prefix/", "https://timers.example/prefix"), ("unix:/run/t.sock", "unix:/run/t.sock"),
        ("unix:relative", "unix:relative"),
    ])
    func `an address is read and shown`(text: String, shown: String) throws {
        #expect(try #require(ServerAddress(text)).description == shown)
    }

    @Test(arguments: [
        "", "localhost:8080", "ftp://host", "http://", "http:///path", "http://:80", "http://a b", "http://a?b",
        "http://a#b", "http://a\r\nb", "unix:", "HTTP://UPPER",
    ])
    func `what is no address is refused`(text: String) {
        #expect(ServerAddress(text) == nil)
    }

    @Test func `a path that C would cut short is refused`() {
        #expect(ServerAddress("unix:/a\0b") == nil)
    }
}
