import TestSupport
import Testing

@testable import Webhooks

/// A URL and the parts that must be found in it.
struct URLCase: Sendable, CustomTestStringConvertible {
    var text: String
    var isSecure: Bool
    var host: String
    var port: UInt16

    init(_ text: String, _ isSecure: Bool, _ host: String, _ port: UInt16) {
        self.text = text
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    var testDescription: String { text }

    static let all = [
        URLCase("https://example.com", true, "example.com", 443),
        URLCase("http://example.com/", false, "example.com", 80),
        URLCase("HTTPS://Example.COM.:8443/a?b=c@d:9", true, "example.com", 8443),
        URLCase("http://example.com?a:b@c", false, "example.com", 80),
        URLCase("http://a_b.internal:65535/x", false, "a_b.internal", 65535),
        URLCase("http://[::1]/", false, "::1", 80),
        URLCase("https://[2001:DB8:0::1]:1", true, "2001:db8::1", 1),
        URLCase("http://127.0.0.1:8080/hook", false, "127.0.0.1", 8080),
        URLCase("http://2130706433/", false, "2130706433", 80),
        URLCase("http://0x7f.1/", false, "0x7f.1", 80),
        URLCase("http://0177.0.0.1/", false, "0177.0.0.1", 80),
    ]

    static let refused = [
        ("", "must start with"), ("example.com", "must start with"), ("//example.com", "must start with"),
        ("ftp://example.com", "must start with"), ("http:/example.com", "must start with"),
        ("file:///etc/passwd", "must start with"), ("https//example.com", "must start with"),
        ("http://", "no host"), ("https:///path", "no host"), ("http://:80/", "no host"), ("http://?a", "no host"),
        ("http://user@example.com/", "user name"), ("http://user:word@example.com/", "user name"),
        ("http://@example.com/", "user name"), ("http://example.com\\@127.0.0.1/", "user name"),
        ("http://example.com/#a", "fragment"), ("http://example.com#@b/", "fragment"),
        ("http://exämple.com/", "printable ASCII"), ("http://example.com/a b", "printable ASCII"),
        ("http://example.com/\r\nHost: b", "printable ASCII"), ("http://example.com/\u{0}", "printable ASCII"),
        ("http://example.com/\u{7F}", "printable ASCII"),
        ("http://example.com:/", "port"), ("http://example.com:0/", "port"), ("http://example.com:65536/", "port"),
        ("http://example.com:+80/", "port"), ("http://example.com:8a/", "port"),
        ("http://a:1:2/", "host must be a name"),
        ("http://example..com/", "host must be a name"), ("http://.example.com/", "host must be a name"),
        ("http://exa%6dple.com/", "host must be a name"), ("http://example.com\\evil/", "host must be a name"),
        ("http://{a,b}.com/", "host must be a name"), ("http://[::1", "IPv6"), ("http://[::1]a/", "IPv6"),
        ("http://[fe80::1%25eth0]/", "IPv6"), ("http://[127.0.0.1]/", "IPv6"), ("http://[]/", "IPv6"),
        ("http://" + String(repeating: "a.", count: 127) + "com/", "host must be a name"),
        ("http://" + String(repeating: "a", count: 64) + ".com/", "host must be a name"),
        ("http://e.com/" + String(repeating: "a", count: 2036), "2049 bytes"),
    ]
}

struct WebhookURLTests {
    @Test(arguments: URLCase.all)
    func `scheme, host and port are found`(url: URLCase) throws {
        let found = try WebhookURL(url.text)
        #expect(found.isSecure == url.isSecure)
        #expect(found.host == url.host)
        #expect(found.port == url.port)
    }

    @Test(arguments: URLCase.refused)
    func `a URL that is not plain is refused with the reason`(text: String, reason: String) {
        let error = #expect(throws: WebhookError.self) { try WebhookURL(text) }
        #expect(error?.member == "url")
        #expect(error?.message.contains(reason) == true)
    }

    @Test func `a URL may have 2048 bytes`() throws {
        _ = try WebhookURL("http://e.com/" + String(repeating: "a", count: 2035))
    }

    @Test(arguments: [
        ("https://a.com", "https://A.com.:443/x?y", true), ("http://a.com", "http://a.com:80", true),
        ("http://[::1]/", "http://[0:0:0::1]:80/", true), ("http://a.com", "https://a.com", false),
        ("http://a.com:443", "https://a.com:443", false), ("https://a.com", "https://a.com:8443", false),
        ("https://a.com", "https://b.com", false), ("https://a.com", "https://www.a.com", false),
        ("https://a.com", "nonsense", false), ("nonsense", "nonsense", false),
    ])
    func `an origin is scheme, host and port`(left: String, right: String, isSame: Bool) {
        let (left, right) = (WebhookConfiguration(url: left), WebhookConfiguration(url: right))
        #expect(left.sameOrigin(as: right) == isSame)
        #expect(right.sameOrigin(as: left) == isSame)
    }

    @Test(arguments: [
        ("http://Example.com/a", "http://example.com"), ("http://example.com:80", "http://example.com"),
        ("HTTPS://example.com:443?x", "https://example.com"), ("https://example.com:80/", "https://example.com:80"),
        ("http://[::1]:8080#x/y", "http://[::1]:8080"), ("nonsense", "nonsense"), ("", ""),
    ])
    func `an origin's text is scheme, name and port`(url: String, origin: String) {
        #expect(WebhookURL.origin(of: url) == origin)
    }

    @Test func `any text is read or refused`() {
        var numbers = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let base = URLCase.all.randomElement(using: &numbers)?.text ?? ""
            let bytes = numbers.mutation(of: Array(base.utf8), alphabet: Array("[]:@/?#.%0a".utf8))
            guard let url = try? WebhookURL(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(!url.host.isEmpty && url.port > 0)
            #expect(url.host.utf8.allSatisfy { !"@/?#[]%\\".utf8.contains($0) })
        }
    }
}
