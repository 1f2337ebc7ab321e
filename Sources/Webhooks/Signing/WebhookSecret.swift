/// A key that signs deliveries, in the text form of Standard Webhooks 1.0: `whsec_` and the key in base64.
///
/// A secret is described and reflected in its ``masked`` form only.
public struct WebhookSecret: Sendable, Equatable {
    /// The prefix of a secret's text.
    public static let prefix = "whsec_"
    /// The number of bytes a key may have.
    public static let keySizes = 24...64
    private static let maskPrefix = "whsec_…"
    private static let shownCharacters = 4

    /// The key itself.
    public let key: [UInt8]

    /// Makes the secret with this key; nil unless it has 24 to 64 bytes.
    public init?(key: [UInt8]) {
        guard Self.keySizes.contains(key.count) else { return nil }
        self.key = key
    }

    /// Reads `whsec_` and base64, whose padding may be missing.
    ///
    /// - Parameter member: the member that an error names.
    public init(_ text: String, member: String = "secret") throws(WebhookError) {
        guard text.hasPrefix(Self.prefix), let key = Base64.decode(text.utf8.dropFirst(Self.prefix.utf8.count)) else {
            throw WebhookError(member: member, message: "a secret is `whsec_` and base64")
        }
        guard let secret = WebhookSecret(key: key) else {
            throw WebhookError(
                member: member,
                message:
                    "a secret's base64 encodes \(Self.keySizes.lowerBound) to \(Self.keySizes.upperBound) bytes,"
                    + " not \(key.count)")
        }
        self = secret
    }

    /// The secret as it is given to a receiver: `whsec_` and padded base64.
    public var text: String { Self.prefix + Base64.encode(key) }

    /// The form that may be shown: `whsec_…` and the last 4 characters of ``text``.
    public var masked: String { Self.maskPrefix + text.suffix(Self.shownCharacters) }

    /// Whether `text` has the form of ``masked``: a client sent back what it was shown.
    public static func isMask(_ text: String) -> Bool {
        text.hasPrefix(maskPrefix) && text.dropFirst(maskPrefix.count).count == shownCharacters
    }

    /// Returns the secret among `stored` whose mask is `mask`; nil where there is none, or several that differ.
    public static func matching(_ mask: String, in stored: [WebhookSecret]) -> WebhookSecret? {
        let found = stored.filter { $0.masked == mask }
        return found.dropFirst().allSatisfy { $0 == found[0] } ? found.first : nil
    }
}

extension WebhookSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The masked form.
    public var description: String { masked }
    /// The masked form.
    public var debugDescription: String { masked }
    /// No children, so that `dump` shows the description only.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
