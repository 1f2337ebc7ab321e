import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// Headers that carry credentials: masked where they are shown, and bound to the URL's origin.
struct WebhookCredentialTests: WebhookBodies {
    private func hook(
        _ headers: String, at url: String = "https://hooks.example/t", secret names: String? = nil
    ) -> String {
        let secret = names.map { #","secretHeaders":["\#($0)"]"# } ?? ""
        return #"{"url":"\#(url)","headers":{\#(headers)}\#(secret)}"#
    }

    @Test func `a PUT makes a timer with headers, and replaces it`() throws {
        let server = try WholeServer()
        let body = #"{"after":"1h","webhook":\#(hook(#""X-Plain":"seen""#))}"#
        for status in [201, 200] { #expect(try server.ask("PUT", "/v1/timers/t", body).status == status) }
    }

    @Test(arguments: ["Authorization", "authorization", "PROXY-AUTHORIZATION", "Cookie"])
    func `credentials are masked`(name: String) throws {
        let text = try shown(definition(hook(#""\#(name)":"s3cret","X-Plain":"seen""#)))
        #expect(text.contains(#""headers":{"\#(name)":"***","X-Plain":"seen"}"#))
        #expect(!text.contains("secretHeaders") && !text.contains("s3cret"))
    }

    @Test func `other headers are secret where they are named, also once they are set`() throws {
        let stored = try definition(hook(#""X-Api-Key":"s3cret","X-Plain":"seen""#, secret: #"x-api-key","X-Absent"#))
        let text = try shown(stored)
        #expect(text.contains(#""headers":{"X-Api-Key":"***","X-Plain":"seen"}"#))
        #expect(text.contains(#""secretHeaders":["x-api-key","X-Absent"]"#))
        let later = try shown(patched(#"{"webhook":{"headers":{"X-Absent":"later"}}}"#, stored))
        #expect(later.contains(#""X-Absent":"***""#) && !later.contains("later"))
    }

    @Test func `what is shown can be sent back`() throws {
        let stored = try definition(hook(#""Authorization":"Bearer x","X-Api-Key":"k""#, secret: "X-Api-Key"))
        let text = try shown(stored)
        #expect(try definition(text, replacing: stored) == stored)
        #expect(try patched(#"{"webhook":\#(text)}"#, stored) == stored)
    }

    @Test(
        arguments: ["https://other.example/", "http://hooks.example/t", "https://hooks.example:8443/"],
        [("Authorization", nil), ("X-Api-Key", "X-Api-Key")] as [(String, String?)])
    func `a credential does not follow the URL to another origin`(url: String, header: (String, String?)) throws {
        let (name, secret) = header
        let stored = try definition(hook(#""\#(name)":"s3cret""#, secret: secret))
        let members = [
            "", #","secret":null"#, #","secretHeaders":null"#,
            #","headers":{"\#(name.uppercased())":"***","\#(name)":null}"#,
        ]
        for more in members {
            let patch = #"{"webhook":{"url":"\#(url)"\#(more)}}"#
            let problem = #expect(throws: Problem.self) { try patched(patch, stored) }
            #expect(problem?.pointer?.lowercased() == "/webhook/headers/\(name)".lowercased(), "\(patch)")
            #expect(problem?.detail.contains("origin") == true, "\(patch)")
        }
        let put = try #require(refusal(hook(#""\#(name)":"***""#, at: url), replacing: stored))
        #expect(put.pointer == "/webhook/headers/\(name)" && put.detail.contains("origin"))
        func moved(_ value: String) throws -> String {
            try shown(patched(#"{"webhook":{"url":"\#(url)","headers":{"\#(name)":\#(value)}}}"#, stored))
        }
        #expect(try moved(#""new""#).contains(#""headers":{"\#(name)":"***"}"#))
        #expect(try moved("null").contains(#""headers":{}"#))
    }

    @Test func `the same origin keeps them`() throws {
        let stored = try definition(hook(#""Authorization":"Bearer x""#))
        let moved = #"{"webhook":{"url":"https://hooks.example/b","headers":{"X-More":"1"}}}"#
        let expected = hook(#""Authorization":"Bearer x","X-More":"1""#, at: "https://hooks.example/b")
        #expect(try patched(moved, stored) == definition(expected))
    }

    @Test func `what is shown to a client that may only read can be sent back`() throws {
        let stored = try definition(hook(#""X-Plain":"seen","Authorization":"Bearer x""#))
        let text = try shown(stored, secrets: .hidden)
        #expect(text.contains(#""url":"https://hooks.example/***""#))
        #expect(text.contains(#""headers":{"X-Plain":"***","Authorization":"***"}"#))
        #expect(try definition(text, replacing: stored) == stored)
        #expect(try patched(#"{"webhook":\#(text)}"#, stored) == stored)
        let whole = try definition(#""https://hooks.example/***""#, replacing: stored)
        #expect(try whole == definition(#""https://hooks.example/t""#))
    }

    @Test(arguments: ["http://hooks.example/***", "https://hooks.example:8443/***", "https://other.example/***"])
    func `a masked URL that means no stored one is refused`(masked: String) throws {
        let stored = try definition(hook(#""X-Plain":"seen""#))
        for old in [stored, try definition("null"), []] {
            #expect(refusal("{\"url\":\"\(masked)\"}", replacing: old)?.pointer == "/webhook/url")
            #expect(refusal("\"\(masked)\"", replacing: old)?.pointer?.hasPrefix("/webhook") == true)
        }
        let problem = #expect(throws: Problem.self) { try patched("{\"webhook\":{\"url\":\"\(masked)\"}}", stored) }
        #expect(problem?.pointer == "/webhook/url" && problem?.detail.contains("seen") == false)
    }

    @Test func `a masked value does not follow the URL to another origin, secret or not`() throws {
        let stored = try definition(hook(#""X-Plain":"seen""#))
        let moved = hook(#""X-Plain":"***""#, at: "https://other.example/")
        let put = try #require(refusal(moved, replacing: stored))
        #expect(put.pointer == "/webhook/headers/X-Plain" && put.detail.contains("origin"))
        // A value that is shown is sent back whole.
        let patch = #"{"webhook":{"url":"https://other.example/"}}"#
        #expect(try shown(patched(patch, stored)).contains(#""headers":{"X-Plain":"seen"}"#))
    }

    @Test(arguments: [("Authorization", nil), ("X-Other", nil), ("X-Api-Key", "X-Api-Key")] as [(String, String?)])
    func `a mask that means no stored value is refused`(name: String, secret: String?) throws {
        let masked = hook(#""\#(name)":"***""#, secret: secret)
        let stored = try definition(hook(#""X-Plain":"seen""#))
        #expect(refusal(masked)?.pointer == "/webhook/headers/\(name)")
        #expect(refusal(masked, replacing: stored)?.pointer == "/webhook/headers/\(name)")
        let problem = #expect(throws: Problem.self) { try patched(#"{"webhook":\#(masked)}"#, stored) }
        #expect(problem?.pointer == "/webhook/headers/\(name)")
    }

    @Test func `a header that was secret stays so while its value is the same`() throws {
        let stored = try definition(hook(#""X-Api-Key":"s3cret""#, secret: "X-Api-Key"))
        let kept = [
            try patched(#"{"webhook":{"secretHeaders":null}}"#, stored),
            try patched(#"{"webhook":{"secretHeaders":[]}}"#, stored),
            try definition(hook(#""X-Api-Key":"s3cret""#), replacing: stored),
            try definition(hook(#""X-Api-Key":"***""#), replacing: stored),
            try definition(hook(#""x-api-key":"***""#), replacing: stored),
        ]
        for definition in kept {
            #expect(try shown(definition).lowercased().contains(#""headers":{"x-api-key":"***"}"#))
        }
        let changed = try shown(definition(hook(#""X-Api-Key":"public""#), replacing: stored))
        #expect(changed.contains(#""headers":{"X-Api-Key":"public"}"#))
    }
}
