import Testing

@testable import Webhooks

/// Hosts by which deliveries are listed.
struct WebhookHostTests {
    @Test(arguments: [
        ("hooks.example.com", "https://hooks.example.com/a", true),
        ("hooks.example.com", "http://HOOKS.example.com.:8080?a", true),
        ("Hooks.Example.com.", "https://hooks.example.com", true),
        ("hooks.example.com:443", "https://hooks.example.com/", true),
        ("hooks.example.com:443", "http://hooks.example.com/", false),
        ("hooks.example.com:80", "http://hooks.example.com/", true),
        ("example.com", "https://hooks.example.com/", false),
        ("10.0.0.7:8080", "http://10.0.0.7:8080/hook", true), ("10.0.0.7:8080", "http://10.0.0.7:8081/hook", false),
        ("[::1]", "http://[0:0::1]:9/", true), ("[::1]:9", "http://[::1]:9/", true),
        ("[::1]:9", "http://[::1]/", false),
        ("hooks.example.com", "nonsense", false),
    ])
    func `a host matches the URLs that lead to it`(host: String, url: String, isMatch: Bool) throws {
        #expect(try #require(WebhookHost(host)).matches(url) == isMatch)
    }

    @Test(arguments: [
        "", "a/b", "a?b", "http://a", "a b", "user@a", "a#b", "a:", "a:0", "a:65536", "a:b", "[::1", "::1", "a..b", "ä",
    ])
    func `a text that is no host is refused`(text: String) {
        #expect(WebhookHost(text) == nil)
    }
}
