import CCrypto

/// The hash SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// Returns the hash of `bytes` in base64, padded: 44 characters.
    public static func base64(of bytes: some Sequence<UInt8>) -> String { Base64.encode(hash(of: Array(bytes))) }

    /// Returns the hash of `bytes`: 32 bytes.
    public static func hash(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let done = unsafe digest.withUnsafeMutableBufferPointer { digest in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe ccrypto_sha256(bytes.baseAddress, bytes.count, digest.baseAddress)
            }
        }
        precondition(done, "libcrypto knows SHA-256 and fails only where memory has run out")
        return digest
    }
}

/// HMAC-SHA256 (RFC 2104, FIPS 180-4).
enum HMAC {
    /// The number of bytes in a code.
    static let byteCount = 32

    /// Returns the code of `message` under `key`.
    static func sha256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: byteCount)
        let done = unsafe code.withUnsafeMutableBufferPointer { code in
            unsafe key.withUnsafeBytes { key in
                unsafe message.withUnsafeBytes { message in
                    unsafe ccrypto_hmac_sha256(
                        key.baseAddress, key.count, message.baseAddress, message.count, code.baseAddress)
                }
            }
        }
        precondition(done, "libcrypto knows SHA-256 and fails only where memory has run out")
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
