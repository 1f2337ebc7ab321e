import Foundation
import Testing
import TimerCore
import TimerService

@testable import TimerAPI

/// The text of a secret whose key is 32 bytes: `first`, then `rest`. A masked secret shows the end of the text.
private func secret(_ first: UInt8, _ rest: UInt8) -> String {
    "whsec_" + Data([first] + [UInt8](repeating: rest, count: 31)).base64EncodedString()
}

private func mask(_ secret: String) -> String { "whsec_…" + secret.suffix(4) }

private let url = #""url":"https://hooks.example/t""#

/// The meaning of a webhook in the body of a create, and the member that a refusal points to.
/// `WebhookConfigurationTests` and `WebhookURLTests` have the bounds of each member.
struct WebhookFieldTests: WebhookBodies {
    @Test(arguments: [
        #""https://hooks.example/t""#, "{\(url)}",
        "{\(url),\"method\":null,\"headers\":null,\"format\":null,\"secret\":null,\"timeout\":null}",
        "{\(url),\"types\":null,\"retry\":null,\"stopped\":null}",
        #"{"url":"https://hooks.example/t","retry":{"maxAttempts":null,"initial":null,"max":null},"stopped":true}"#,
        #"{"url":"https://hooks.example/t","secret":[],"types":["fired","fired"],"timeout":"PT15S"}"#,
    ])
    func `a URL is enough, and what is not said has its default`(webhook: String) throws {
        #expect(
            try shown(definition(webhook)) == #"{"url":"https://hooks.example/t","method":"POST","headers":{},"#
                + #""format":"standard","secret":null,"timeout":"15s","types":["fired"],"retry":{"maxAttempts":12,"#
                + #""maxAge":null,"giveUpOn":[],"initial":"1s","multiplier":2,"max":"1h","jitter":0.2}}"#)
    }

    @Test func `what is said is shown, and what is shown makes the same webhook`() throws {
        let webhook =
            #"{"url":"http://[::1]:81/","method":"PATCH","headers":{"X-B":"2","X-A":"","Authorization":"Bearer x"},"#
            + #""format":"cloudevents","secret":"\#(secret(1, 2))","timeout":"2m1ms","types":["created","fired","#
            + #""deleted"],"retry":{"maxAttempts":100,"maxAge":"36525d","#
            + #""giveUpOn":["4xx",300,408,599],"initial":"1ms","multiplier":1.1,"max":"7d","jitter":0}}"#
        let first = try definition(webhook)
        let text = try shown(first)
        let masked = webhook.replacingOccurrences(of: secret(1, 2), with: mask(secret(1, 2)))
        #expect(text == masked.replacingOccurrences(of: "Bearer x", with: "***"))
        #expect(try definition(text, replacing: first) == first)
        #expect(try shown(first, isStopped: true).hasSuffix(#","stopped":true}"#))
    }

    @Test func `a webhook that is null is none`() throws {
        let none = try definition("null")
        #expect(try shown(none) == "null")
        let layout = Definition.layout(none.span)
        #expect(layout?.rules.deliveries == [])
    }

    /// Names of headers in JSON, one more than there may be.
    private static let names = (0..<21).map { "\"X-\($0)\"" }

    private static let wrong: [(String, String)] = [
        ("5", ""), ("[]", ""), ("{}", ""), (#"{"url":null}"#, ""), (#""ftp://hooks.example/""#, ""), ("true", ""),
        (#""""#, ""), (#""example.org""#, ""), (#""/path""#, ""), (#"{"method":"POST"}"#, ""),
        (#"{"url":"mailto:a@b"}"#, "/url"), (#"{"url":"https://u:p@hooks.example/"}"#, "/url"),
        (#""https://u:p@hooks.example/""#, ""), (#"{"url":5}"#, "/url"), (#"{"url":"hooks.example"}"#, "/url"),
        ("{\(url),\"method\":\"post\"}", "/method"), ("{\(url),\"format\":\"xml\"}", "/format"),
        ("{\(url),\"method\":\"HEAD\"}", "/method"), ("{\(url),\"method\":1}", "/method"),
        ("{\(url),\"headers\":[]}", "/headers"), ("{\(url),\"headers\":{\"X-A\":1}}", "/headers/X-A"),
        ("{\(url),\"headers\":{\"X-A\":null}}", "/headers/X-A"),
        ("{\(url),\"headers\":{\"Host\":\"x\"}}", "/headers/Host"),
        ("{\(url),\"headers\":{\"a/b\":\"x\"}}", "/headers/a~1b"),
        ("{\(url),\"headers\":{\"webhook-id\":\"x\"}}", "/headers/webhook-id"),
        ("{\(url),\"headers\":{\"X-A\":\"a\\nb\"}}", "/headers/X-A"),
        ("{\(url),\"headers\":{\"\":\"b\"}}", "/headers/"),
        ("{\(url),\"headers\":{\"X-A\":\"\\u0000\"}}", "/headers/X-A"),
        ("{\(url),\"headers\":{\"X: y\\r\\nA\":\"b\"}}", "/headers/X: y\r\nA"),
        ("{\(url),\"headers\":{\(names.map { "\($0):\"\"" }.joined(separator: ","))}}", "/headers"),
        ("{\(url),\"secretHeaders\":\"X\"}", "/secretHeaders"), ("{\(url),\"secretHeaders\":[1]}", "/secretHeaders/0"),
        ("{\(url),\"secretHeaders\":[\"ok\",\"a b\"]}", "/secretHeaders/1"),
        ("{\(url),\"secretHeaders\":[\(names.joined(separator: ","))]}", "/secretHeaders"),
        ("{\(url),\"headers\":{\"X-A\":\"a\\r\\nB: c\"}}", "/headers/X-A"),
        ("{\(url),\"secret\":5}", "/secret"), ("{\(url),\"secret\":\"swordfish\"}", "/secret"),
        ("{\(url),\"secret\":\"\"}", "/secret"), ("{\(url),\"secret\":[null]}", "/secret/0"),
        ("{\(url),\"secret\":[\"\(secret(1, 2))\",\"whsec_AAAA\"]}", "/secret/1"),
        ("{\(url),\"secret\":[\"\(secret(1, 2))\",1]}", "/secret/1"),
        ("{\(url),\"secret\":\"whsec_…abcd\"}", "/secret"),
        ("{\(url),\"secret\":[\"\(secret(1, 2))\",\"whsec_…abcd\"]}", "/secret/1"),
        ("{\(url),\"secret\":[\(repeatElement("\"\(secret(1, 2))\"", count: 6).joined(separator: ","))]}", "/secret"),
        ("{\(url),\"timeout\":15}", "/timeout"), ("{\(url),\"timeout\":\"15\"}", "/timeout"),
        ("{\(url),\"timeout\":\"10m1ms\"}", "/timeout"), ("{\(url),\"timeout\":\"11m\"}", "/timeout"),
        ("{\(url),\"timeout\":\"99ms\"}", "/timeout"), ("{\(url),\"types\":[]}", "/types"),
        ("{\(url),\"types\":\"fired\"}", "/types"), ("{\(url),\"types\":[\"fired\",\"exploded\"]}", "/types/1"),
        ("{\(url),\"types\":[null]}", "/types/0"), ("{\(url),\"types\":[\"delivered\"]}", "/types/0"),
        ("{\(url),\"types\":[\"fired\",\"deliveryFailed\"]}", "/types/1"),
        ("{\(url),\"types\":[\"deliveryDead\"]}", "/types/0"), ("{\(url),\"retry\":3}", "/retry"),
        ("{\(url),\"retry\":[]}", "/retry"), ("{\(url),\"retry\":\"often\"}", "/retry"),
        ("{\(url),\"retry\":{\"maxAttempts\":0}}", "/retry/maxAttempts"),
        ("{\(url),\"retry\":{\"maxAttempts\":101}}", "/retry/maxAttempts"),
        ("{\(url),\"retry\":{\"maxAttempts\":1.5}}", "/retry/maxAttempts"),
        ("{\(url),\"retry\":{\"maxAttempts\":9223372036854775807}}", "/retry/maxAttempts"),
        ("{\(url),\"retry\":{\"maxAge\":\"0s\"}}", "/retry/maxAge"),
        ("{\(url),\"retry\":{\"maxAge\":5}}", "/retry/maxAge"),
        ("{\(url),\"retry\":{\"giveUpOn\":404}}", "/retry/giveUpOn"),
        ("{\(url),\"retry\":{\"giveUpOn\":\"4xx\"}}", "/retry/giveUpOn"),
        ("{\(url),\"retry\":{\"giveUpOn\":[404,\"404\"]}}", "/retry/giveUpOn/1"),
        ("{\(url),\"retry\":{\"giveUpOn\":[404.5]}}", "/retry/giveUpOn/0"),
        ("{\(url),\"retry\":{\"giveUpOn\":[\"5xx\"]}}", "/retry/giveUpOn/0"),
        ("{\(url),\"retry\":{\"giveUpOn\":[null]}}", "/retry/giveUpOn/0"),
        ("{\(url),\"retry\":{\"giveUpOn\":[204]}}", "/retry/giveUpOn/0"),
        ("{\(url),\"retry\":{\"giveUpOn\":[\"4xx\",410]}}", "/retry/giveUpOn/1"),
        ("{\(url),\"retry\":{\"giveUpOn\":[299]}}", "/retry/giveUpOn/0"),
        ("{\(url),\"retry\":{\"giveUpOn\":[600]}}", "/retry/giveUpOn/0"),
        (
            "{\(url),\"retry\":{\"giveUpOn\":[\((500..<533).map(String.init).joined(separator: ","))]}}",
            "/retry/giveUpOn"
        ),
        ("{\(url),\"retry\":{\"initial\":1}}", "/retry/initial"),
        ("{\(url),\"retry\":{\"initial\":\"0s\"}}", "/retry/initial"),
        ("{\(url),\"retry\":{\"initial\":\"25h\"}}", "/retry/initial"),
        ("{\(url),\"retry\":{\"initial\":\"2h\"}}", "/retry/max"),
        ("{\(url),\"retry\":{\"max\":\"1ms\"}}", "/retry/max"),
        ("{\(url),\"retry\":{\"max\":\"8d\"}}", "/retry/max"),
        ("{\(url),\"retry\":{\"multiplier\":0.5}}", "/retry/multiplier"),
        ("{\(url),\"retry\":{\"multiplier\":11}}", "/retry/multiplier"),
        ("{\(url),\"retry\":{\"jitter\":1.1}}", "/retry/jitter"),
        ("{\(url),\"retry\":{\"multiplier\":\"2\"}}", "/retry/multiplier"),
        ("{\(url),\"retry\":{\"multiplier\":1e999}}", "/retry/multiplier"),
        ("{\(url),\"retry\":{\"jitter\":-0.1}}", "/retry/jitter"),
        ("{\(url),\"retry\":{\"jitter\":true}}", "/retry/jitter"),
    ]

    @Test(arguments: wrong)
    func `what is wrong is pointed at`(webhook: String, pointer: String) throws {
        let problem = try #require(refusal(webhook))
        #expect(problem.kind == .invalidRequest)
        #expect(problem.pointer == "/webhook\(pointer)")
    }

    @Test(arguments: [
        ("{\(url),\"colour\":\"red\"}", "/colour"), ("{\(url),\"URL\":null}", "/URL"),
        ("{\(url),\"retry\":{\"attempts\":3}}", "/retry/attempts"),
        ("{\(url),\"retry\":{\"attempts\":null}}", "/retry/attempts"),
    ])
    func `a member that no webhook has is pointed at`(webhook: String, pointer: String) throws {
        let problem = try #require(refusal(webhook))
        #expect(problem.kind == .unknownField)
        #expect(problem.pointer == "/webhook\(pointer)")
    }

    @Test func `no refusal tells a secret`() throws {
        let text = secret(1, 2)
        for bad in [text + "!", "whsec-" + text.dropFirst(6)] {
            let problem = try #require(refusal("{\(url),\"secret\":\"\(bad)\"}"))
            #expect(!problem.detail.contains(text.dropFirst(6).prefix(8)))
        }
    }
}

/// Secrets that are sent back as they were shown.
struct WebhookMaskTests: WebhookBodies {
    private let old = secret(1, 1)
    private let new = secret(2, 2)

    private func hook(_ secrets: [String], at url: String = "https://hooks.example/t") -> String {
        #"{"url":"\#(url)","secret":[\#(secrets.map { "\"\($0)\"" }.joined(separator: ","))]}"#
    }

    @Test func `a mask means the secret that it shows, wherever it stands`() throws {
        let stored = try definition(hook([old, new]))
        let swapped = hook([mask(new), secret(3, 3), mask(old)], at: "https://hooks.example:443/elsewhere")
        #expect(
            try definition(swapped, replacing: stored)
                == definition(hook([new, secret(3, 3), old], at: "https://hooks.example:443/elsewhere")))
        #expect(
            try definition(#"{"url":"https://hooks.example/t","secret":"\#(mask(old))"}"#, replacing: stored)
                == definition(hook([old])))
    }

    @Test(arguments: [0, 1, 3])
    func `what is shown can be sent back, whole or as a patch`(count: Int) throws {
        let secrets = (0..<count).map { secret(UInt8($0), UInt8($0)) }
        let stored = try definition(hook(secrets))
        let text = try shown(stored)
        let masks = secrets.map { "\"\(mask($0))\"" }.joined(separator: ",")
        #expect(text.contains(#""secret":\#(count == 0 ? "null" : count == 1 ? masks : "[\(masks)]"),"#))
        #expect(try definition(text, replacing: stored) == stored)
        #expect(try patched(#"{"webhook":\#(text)}"#, stored) == stored)
    }

    @Test func `a mask that means no stored secret is refused`() throws {
        let stored = try definition(hook([old]))
        #expect(refusal(hook([mask(old)]))?.pointer == "/webhook/secret/0")
        #expect(refusal(hook([mask(old)]), replacing: try definition(#""https://hooks.example/t""#)) != nil)
        #expect(refusal(hook([mask(old)]), replacing: try definition("null")) != nil)
        #expect(refusal(hook([mask(old), mask(new)]), replacing: stored)?.pointer == "/webhook/secret/1")
        let one = #"{"url":"https://hooks.example/t","secret":"\#(mask(new))"}"#
        #expect(refusal(one, replacing: stored)?.pointer == "/webhook/secret")
        #expect(refusal(hook(Array(repeating: mask(old), count: 6)), replacing: stored)?.pointer == "/webhook/secret")
    }

    @Test(arguments: ["http://hooks.example/t", "https://hooks.example:444/t", "https://evil.example/t"])
    func `a secret does not follow the URL to another origin`(url: String) throws {
        let problem = try #require(refusal(hook([mask(old)], at: url), replacing: try definition(hook([old]))))
        #expect(problem.pointer == "/webhook/secret/0")
        #expect(problem.detail.contains("origin"))
    }

    @Test func `secrets that are shown alike are told by their order, where all are sent back`() throws {
        let (first, second) = (secret(1, 7), secret(2, 7))
        #expect(mask(first) == mask(second))
        let stored = try definition(hook([first, second]))
        #expect(try definition(hook([mask(first), mask(second)]), replacing: stored) == stored)
        #expect(
            try definition(hook([mask(first), new, mask(second)]), replacing: stored)
                == definition(hook([first, new, second])))
        #expect(refusal(hook([mask(first)]), replacing: stored)?.pointer == "/webhook/secret/0")
    }
}

/// Patches of a webhook.
struct WebhookPatchTests: WebhookBodies {
    private let hook =
        #"{"url":"https://hooks.example/t","headers":{"X-A":"1","X-B":"2"},"secret":["\#(secret(1, 1))","#
        + #""\#(secret(2, 2))"],"types":["fired","created"]}"#

    private func patched(_ patch: String) throws -> [UInt8] {
        try patched(patch, definition(hook))
    }

    @Test func `a patch is applied to what is shown, without a secret`() throws {
        var view = TimerView()
        view.definition = try definition(hook)
        let base = String(decoding: MergePatch.base(view.definition), as: UTF8.self)
        #expect(base.contains(mask(secret(1, 1))))
        #expect(!base.contains(secret(1, 1)) && !base.contains(secret(2, 2)))
    }

    @Test(arguments: [
        "{}", #"{"webhook":{"method":null}}"#, #"{"webhook":{"timeout":"15s","headers":{"X-C":null}}}"#,
        #"{"webhook":{"types":["created","fired"],"stopped":false}}"#,
        #"{"webhook":{"url":"https://hooks.example/t"}}"#,
    ])
    func `a patch that says nothing new changes nothing`(patch: String) throws {
        #expect(try patched(patch) == definition(hook))
    }

    @Test func `a patch changes what it names and keeps the secrets`() throws {
        let changed = hook.replacingOccurrences(of: #""X-B":"2"}"#, with: #""X-B":"3"},"timeout":"5s""#)
        #expect(try patched(#"{"webhook":{"timeout":"5s","headers":{"X-B":"3"}}}"#) == definition(changed))
        #expect(try shown(patched(#"{"webhook":{"secret":null}}"#)).contains(#""secret":null"#))
        #expect(try shown(patched(#"{"webhook":null}"#)) == "null")
        #expect(
            try patched(#"{"webhook":"https://other.example/"}"#) == definition(#""https://other.example/""#))
    }

    @Test(arguments: [
        (#"{"webhook":{"tmeout":null}}"#, "/webhook/tmeout"),
        (#"{"webhook":{"retry":{"attempts":null}}}"#, "/webhook/retry/attempts"),
        (#"{"webhook":{"url":"https://other.example/"}}"#, "/webhook/secret/0"),
        (#"{"webhook":{"url":null}}"#, "/webhook"), (#"{"webhook":{"headers":{"Host":"x"}}}"#, "/webhook/headers/Host"),
    ])
    func `a patch that can't be is pointed at`(patch: String, pointer: String) {
        let problem = #expect(throws: Problem.self) { try patched(patch) }
        #expect(problem?.pointer == pointer)
    }
}
