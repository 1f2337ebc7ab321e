import TestSupport
import Testing

@testable import Webhooks

private let secretA = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
private let secretB = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
private let secretC = "whsec_v8DBwsPExcbHyMnKy8zNzs/Q0dLT1NXW19jZ2tvc3d7f4OHi4+Tl5ufo6err7O3u7/Dx8vP09fb3+Pn6+/z9/g=="

/// A signature by the Python package `standardwebhooks` 1.1.0, made by `Webhook(secret).sign(id,
/// datetime.fromtimestamp(timestamp, timezone.utc), body)`.
struct SignatureVector: Sendable, CustomTestStringConvertible {
    var secret: String
    var id: String
    var timestamp: Int64
    var body: String
    var signature: String

    var testDescription: String { "\(id) \(body)" }

    static let all = [
        SignatureVector(
            secret: secretA, id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: #"{"test": 2432232314}"#, signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        SignatureVector(
            secret: secretB, id: "dlv_01", timestamp: 1_767_225_600, body: "",
            signature: "v1,RDHIui2zdxx/h7/stZyU9WF+iAgKRQfAzO5pBW99qls="),
        SignatureVector(
            secret: secretB, id: "0197f6f2-7c1a-7000-8000-000000000001", timestamp: 0, body: "null",
            signature: "v1,yJAWvaqd+twZRdF1yjO74kBlp4+w8h/fZwcP2TyNDeM="),
        SignatureVector(
            secret: secretC, id: "dlv_01", timestamp: 1_767_225_600, body: #"{"note":"grüße 🕰"}"#,
            signature: "v1,1bc+i2YQ/qUYIAbOFhFlQbAFyLyjgTWQJklNPow7rkA="),
    ]
}

private func verdict(
    _ vector: SignatureVector, signature: String? = nil, id: String? = nil, timestamp: String? = nil,
    body: String? = nil, secrets: [String]? = nil, ahead: Int64 = 0
) throws -> WebhookSignature.Verdict {
    WebhookSignature.verify(
        signature: signature ?? vector.signature, id: id ?? vector.id, timestamp: timestamp ?? "\(vector.timestamp)",
        body: Array((body ?? vector.body).utf8),
        secrets: try (secrets ?? [vector.secret]).map { try WebhookSecret($0) },
        nowSeconds: vector.timestamp + ahead)
}

struct WebhookSignatureTests {
    @Test(arguments: SignatureVector.all)
    func `signatures are those of the reference implementation`(vector: SignatureVector) throws {
        let signature = WebhookSignature.header(
            id: vector.id, timestamp: vector.timestamp, body: Array(vector.body.utf8),
            secrets: [try WebhookSecret(vector.secret)])
        #expect(signature == vector.signature)
        #expect(try verdict(vector) == .valid)
    }

    @Test func `each secret signs, so that receivers can rotate`() throws {
        let vector = SignatureVector.all[0]
        let secrets = try [secretB, secretA].map { try WebhookSecret($0) }
        let header = WebhookSignature.header(
            id: vector.id, timestamp: vector.timestamp, body: Array(vector.body.utf8), secrets: secrets)
        let parts = header.split(separator: " ")
        #expect(parts.count == 2 && parts.last.map(String.init) == vector.signature)
        #expect(try verdict(vector, signature: header, secrets: [secretA]) == .valid)
        #expect(try verdict(vector, signature: header, secrets: [secretB]) == .valid)
        #expect(try verdict(vector, signature: header, secrets: [secretC]) == .noMatch)
        #expect(try verdict(vector, secrets: [secretC, secretA]) == .valid)
        #expect(WebhookSignature.header(id: "a", timestamp: 0, body: [], secrets: []) == "")
    }

    @Test func `keys that are kept sign like new ones`() throws {
        let keys = SigningKeys()
        func isSame(_ key: UInt16, _ body: [UInt8]) throws -> Bool {
            let bytes = [UInt8(truncatingIfNeeded: key), UInt8(key >> 8)] + [UInt8](repeating: 7, count: 30)
            let secrets = [try #require(WebhookSecret(key: bytes))]
            return WebhookSignature.header(id: "a", timestamp: 1, body: body, secrets: secrets, keys: keys)
                == WebhookSignature.header(id: "a", timestamp: 1, body: body, secrets: secrets)
        }
        // More keys than are kept, and each again.
        for body in [[], [1, 2, 3], [UInt8](repeating: 9, count: 1000)] {
            for key in UInt16(0)..<1100 { #expect(try isSame(key, body)) }
        }
    }

    @Test(
        arguments: [
            (-300, .valid), (300, .valid), (301, .tooOld), (-301, .tooNew),
        ] as [(Int64, WebhookSignature.Verdict)])
    func `a timestamp may be five minutes off`(ahead: Int64, expected: WebhookSignature.Verdict) throws {
        #expect(try verdict(SignatureVector.all[0], ahead: ahead) == expected)
    }

    @Test(arguments: ["", "abc", "1614265330.0", "+1614265330", "-1614265330", " 1614265330", "99999999999999999999"])
    func `a timestamp is a whole number`(timestamp: String) throws {
        #expect(try verdict(SignatureVector.all[0], timestamp: timestamp) == .malformedTimestamp)
    }

    @Test func `whatever is changed, the signature no longer holds`() throws {
        let vector = SignatureVector.all[0]
        #expect(try verdict(vector, id: "msg_p5jXN8AQM9LWM0D4loKWxJel") == .noMatch)
        #expect(try verdict(vector, body: vector.body + " ") == .noMatch)
        #expect(try verdict(vector, timestamp: "1614265331") == .noMatch)
        #expect(try verdict(vector, timestamp: "01614265330") == .noMatch)
        #expect(try verdict(vector, secrets: []) == .noMatch)
        for signature in [
            "", "v1,", "v1", vector.signature.dropFirst(3).description, "v1a" + vector.signature.dropFirst(2),
            "v2" + vector.signature.dropFirst(2), "V1" + vector.signature.dropFirst(2),
        ] {
            #expect(try verdict(vector, signature: signature) == .noMatch)
        }
        #expect(try verdict(vector, signature: "v1a,AAAA v1,# \(vector.signature)") == .valid)
        #expect(try verdict(vector, signature: String(repeating: "v1,A ", count: 40) + vector.signature) == .noMatch)
    }

    @Test func `no mutation of a signature is valid`() throws {
        var numbers = SeededGenerator(seed: 5)
        let vector = SignatureVector.all[0]
        let good = vector.signature.split(separator: "=")[0]
        for _ in 0..<3000 {
            let bytes = numbers.mutation(of: Array(vector.signature.utf8), alphabet: Array("v1,= A/+z".utf8))
            let text = String(decoding: bytes, as: UTF8.self)
            let same = text.split(separator: " ").contains { $0 == good || $0 == vector.signature }
            #expect((try verdict(vector, signature: text) == .valid) == same)
        }
    }

    @Test func `codes are equal in all their bytes or not at all`() {
        let code = HMAC(key: [3]).code(of: [1, 2])
        #expect(code.count == HMAC.byteCount && HMAC.equal(code, code) && HMAC.equal([], []))
        for index in code.indices {
            var other = code
            other[index] ^= 1
            #expect(!HMAC.equal(code, other))
        }
        #expect(!HMAC.equal(code, Array(code.dropLast())))
    }
}
