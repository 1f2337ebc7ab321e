import Testing

@testable import TimerAPI

struct HTMLPageTests {
    // Hashes by `printf … | openssl dgst -sha256 -binary | base64`.
    @Test func `the policy names what stands in the page by its hash, and its own server`() {
        let page = HTMLPage(Array("<style>b{}</style><p>x</p><script>\nf()\n</script>".utf8))
        #expect(
            page.policy == "default-src 'none'; script-src 'sha256-GpfXNSGA7AfjRV6DlBPnw1DCHfleUrLBhn1GCDoot4A='; "
                + "style-src 'sha256-7yqHVAesot11p6HczDsgKRipvI5UPgs97z80zNXlans='; "
                + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    }

    @Test func `each script has its hash`() {
        let policy = HTMLPage(Array("<script>a</script><script>b</script>".utf8)).policy
        #expect(
            policy.contains(
                "script-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=' "
                    + "'sha256-PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0='; style-src 'none'"))
    }

    @Test func `what is loaded later has its hashes too`() {
        let policy = HTMLPage(Array("<script>a</script>".utf8), parts: Array("<script>b</script>".utf8)).policy
        #expect(policy == HTMLPage(Array("<script>a</script><script>b</script>".utf8)).policy)
    }

    @Test func `another page has another entity tag`() {
        let tags = ["a", "b", "b"].map { HTMLPage(Array($0.utf8)).tag }
        #expect(tags[0] != tags[1] && tags[1] == tags[2])
        #expect(tags[0] == "\"ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=\"")
    }

    @Test(arguments: [
        ("\"x\"", true), ("W/\"x\"", true), ("\"a\", \"x\"", true), ("*", true), ("\"y\"", false), ("x", false),
        ("", false),
    ])
    func `If-None-Match names an entity tag`(header: String, names: Bool) {
        #expect(Conditions.ifNoneMatch(Array(header.utf8)[...], names: "\"x\"") == names)
    }
}
