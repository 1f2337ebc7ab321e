import Testing

@testable import TimerAPI

struct PageOriginTests {
    @Test(arguments: [
        ("http://x", "x", true), ("http://x:80", "x", true), ("http://x", "x:80", true), ("https://x", "x:443", true),
        ("https://x:443", "x", true), ("https://x:443", "x:443", true), ("HTTPS://X.Example", "x.example:443", true),
        ("https://[::1]", "[::1]:443", true), ("http://x:8080", "x:8080", true), ("http://x", "x:", true),
        ("https://x", "x:80", false), ("http://x", "x:443", false), ("https://x:80", "x", false),
        ("https://x", "x:8443", false), ("https://x:8443", "x:443", false), ("https://x", "x:4430", false),
        ("https://x", "y", false), ("https://x", "ax", false), ("ftp://x:80", "x", false), ("https://x/", "x", false),
        ("null", "null", false), ("x", "x", false), ("https:x", "x", false), ("", "", false), ("http://", "", false),
        ("http://", ":80", false), ("https://[::1]", "[::1:443", false),
    ])
    func `an origin is compared without the default port of its scheme`(origin: String, host: String, isSame: Bool) {
        #expect(PageOrigin.isSame(Array(origin.utf8)[...], as: Array(host.utf8)[...]) == isSame)
    }

    @Test func `a refusal names what was compared`() {
        let problem = Problem.crossOrigin(Array("https://a.example".utf8)[...], authority: Array("b:8080".utf8)[...])
        #expect(problem.kind == .crossOrigin)
        for word in ["`https://a.example`", "`b:8080`", "proxy", "`Host`"] { #expect(problem.detail.contains(word)) }
        #expect(Problem.crossOrigin(Array("null".utf8)[...], authority: nil).detail.contains("there is no `Host`"))
    }

    @Test(arguments: [
        ("timers.example:80", "`--allow-host timers.example`"), ("A.Example", "`--allow-host a.example`"),
        ("a.example.", "`--allow-host NAME`"), (".a.example", "`--allow-host NAME`"), ("a'b", "`--allow-host NAME`"),
        ("", "`--allow-host NAME`"), (String(repeating: "a.", count: 200) + "a", "`--allow-host NAME`"),
    ])
    func `a refused host is told how to be allowed`(host: String, advice: String) {
        let problem = Problem.misdirected(Array(host.utf8)[...])
        #expect(problem.kind == .misdirected)
        #expect(problem.detail.contains(advice))
    }

    @Test func `what is shown of a header is escaped and bounded`() {
        #expect(Problem.shown(Array("a \u{1B}é".utf8)[...]) == "a%20%1B%C3%A9")
        #expect(Problem.shown([UInt8](repeating: 0xFF, count: 4000)[...]).unicodeScalars.count == 129)
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: 4000)[...]
        #expect(Problem.crossOrigin(long, authority: long).detail.utf8.count < 512)
        #expect(Problem.misdirected(long).detail.utf8.count < 512)
    }
}
