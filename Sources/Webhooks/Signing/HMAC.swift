import CCrypto

/// A key of HMAC-SHA256 (RFC 2104, FIPS 180-4), ready for one message after another. Confined to one thread.
@safe final class HMAC {
    /// The number of bytes in a code.
    static let byteCount = 32

    private let key: OpaquePointer

    /// - Parameter key: at least one byte.
    init(key: [UInt8]) {
        guard let made = unsafe key.withUnsafeBytes({ unsafe ccrypto_hmac_make($0.baseAddress, $0.count) }) else {
            preconditionFailure("libcrypto knows HMAC-SHA256 and fails only where memory has run out")
        }
        unsafe self.key = unsafe made
    }

    deinit { unsafe ccrypto_hmac_free(key) }

    /// Returns the code of the message that is `head` and then `body`.
    func code(of head: [UInt8], _ body: [UInt8] = []) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Self.byteCount)
        let done = unsafe code.withUnsafeMutableBufferPointer { code in
            unsafe head.withUnsafeBytes { head in
                unsafe body.withUnsafeBytes { body in
                    unsafe ccrypto_hmac_code(
                        key, head.baseAddress, head.count, body.baseAddress, body.count, code.baseAddress)
                }
            }
        }
        precondition(done, "libcrypto knows HMAC-SHA256 and fails only where memory has run out")
        return code
    }

    /// Whether two codes are the same, compared in constant time.
    static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                unsafe ccrypto_equal(left.baseAddress, right.baseAddress, left.count)
            }
        }
    }
}

/// The keys of secrets that sign again and again: to make one takes libcrypto as long as a short message.
///
/// Confined to one thread.
public final class SigningKeys {
    private var keys: [[UInt8]: HMAC] = [:]

    /// The most keys that are kept; beyond that all are dropped.
    private static let kept = 1024

    /// Makes an empty collection.
    public init() {}

    /// Returns the key of `secret`.
    func key(_ secret: WebhookSecret) -> HMAC {
        if let known = keys[secret.key] { return known }
        if keys.count >= Self.kept { keys.removeAll(keepingCapacity: true) }
        let made = HMAC(key: secret.key)
        keys[secret.key] = made
        return made
    }
}
