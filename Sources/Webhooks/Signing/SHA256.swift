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
