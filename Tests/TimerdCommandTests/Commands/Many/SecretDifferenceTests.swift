import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

/// The secrets that are shown of a webhook that differs from its declaration.
struct SecretDifferenceTests {
    private static let secret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"
    private static let other = "whsec_b3RoZXItc2VjcmV0LXNlY3JldC1zZWNyZXQ="
    private static let mask = "whsec_…cmV0"
    private static let otherMask = "whsec_…ZXQ="

    /// The fields that are shown of a webhook at `/b` with a secret, where the server has one at `/a`.
    private func shown(_ declared: String, over stored: String) throws -> [String] {
        let text = #"{"id":"t","after":"1h","webhook":{"url":"http://a.example/b","secret":\#(declared)}}"#
        let directory = try TemporaryDirectory()
        try directory.write("timers", Data(text.utf8))
        let file = try DeclarationFile(reading: directory.file("timers"))
        let timer = try #require(file.timers.first)
        let present = #"{"id":"t","webhook":{"url":"http://a.example/a","secret":\#(stored)}}"#
        let difference = TimerDifference(
            changing: timer, from: try #require(JSONObject(Array(present.utf8))), ["/webhook"])
        #expect(!difference.text.contains(Self.secret))
        return difference.fields.map(\.name)
    }

    @Test(arguments: [
        (#""\#(secret)""#, #""\#(mask)""#), (#"["\#(secret)"]"#, #""\#(mask)""#), (#""\#(mask)""#, #""\#(mask)""#),
        (#"["\#(secret)","\#(other)"]"#, #"["\#(mask)","\#(otherMask)"]"#),
        // A client may leave out the padding.
        (#""whsec_b3RoZXItc2VjcmV0LXNlY3JldC1zZWNyZXQ""#, #""\#(otherMask)""#), ("null", "null"),
    ])
    func `a secret that the server has is no difference`(declared: String, stored: String) throws {
        #expect(try shown(declared, over: stored) == ["webhook.url"])
    }

    @Test(arguments: [
        (#""\#(other)""#, #""\#(mask)""#), ("null", #""\#(mask)""#), (#""\#(secret)""#, "null"),
        (#"["\#(secret)","\#(other)"]"#, #""\#(mask)""#),
        (#"["\#(other)","\#(secret)"]"#, #"["\#(mask)","\#(otherMask)"]"#),
    ])
    func `another secret is one`(declared: String, stored: String) throws {
        #expect(try shown(declared, over: stored) == ["webhook.url", "webhook.secret"])
    }
}
