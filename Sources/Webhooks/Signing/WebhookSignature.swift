/// Signs and verifies deliveries after Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`.
public enum WebhookSignature {
    /// The most seconds by which a timestamp may differ from the receiver's clock, either way: 5 minutes.
    public static let toleranceSeconds: Int64 = 300
    /// The most signatures that are tried in one header; a sender that rotates secrets has a few.
    private static let maximumSignatures = 32
    private static let version = "v1,"

    /// The result of a verification.
    public enum Verdict: Sendable, Equatable {
        /// One of the signatures was made with one of the secrets, and the timestamp is within the tolerance.
        case valid
        /// The timestamp is no whole number of seconds since 1970.
        case malformedTimestamp
        /// The timestamp is over 5 minutes ago: it may be a recorded delivery that is sent again.
        case tooOld
        /// The timestamp is over 5 minutes ahead.
        case tooNew
        /// None of the signatures was made with one of the secrets.
        case noMatch
    }

    /// Returns the value of `webhook-signature`: a `v1,` signature with each of `secrets`, joined by spaces; empty
    /// without secrets.
    ///
    /// - Parameters:
    ///   - id: the value of `webhook-id`; by the standard without a dot.
    ///   - timestamp: the value of `webhook-timestamp`, seconds since 1970.
    ///   - keys: the keys of secrets that have signed before.
    public static func header(
        id: String, timestamp: Int64, body: [UInt8], secrets: [WebhookSecret], keys: SigningKeys = SigningKeys()
    ) -> String {
        let head = head(id: id, timestamp: String(timestamp))
        return secrets.map { version + Base64.encode(keys.key($0).code(of: head, body)) }.joined(separator: " ")
    }

    /// Verifies a delivery that was received, given the texts of its three headers.
    ///
    /// Signatures are compared in constant time. Signatures of other versions are ignored.
    public static func verify(
        signature: String, id: String, timestamp: String, body: [UInt8], secrets: [WebhookSecret], nowSeconds: Int64
    ) -> Verdict {
        // The text is signed as the sender wrote it: another text of the same number has another signature.
        guard timestamp.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let seconds = Int64(timestamp) else {
            return .malformedTimestamp
        }
        if seconds < nowSeconds - toleranceSeconds { return .tooOld }
        if seconds > nowSeconds + toleranceSeconds { return .tooNew }
        let head = head(id: id, timestamp: timestamp)
        let expected = secrets.map { HMAC(key: $0.key).code(of: head, body) }
        for candidate in signature.split(separator: " ").prefix(maximumSignatures) where candidate.hasPrefix(version) {
            guard let code = Base64.decode(candidate.utf8.dropFirst(version.utf8.count)) else { continue }
            if expected.contains(where: { HMAC.equal($0, code) }) { return .valid }
        }
        return .noMatch
    }

    /// Returns the part of the signed message before the body.
    private static func head(id: String, timestamp: String) -> [UInt8] { Array("\(id).\(timestamp).".utf8) }
}
