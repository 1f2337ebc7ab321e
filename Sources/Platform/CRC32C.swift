import CLinux

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4), the checksum of the log.
public enum CRC32C {
    /// The checksum of `bytes`.
    public static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
        unsafe bytes.withUnsafeBytes { buffer in unsafe clinux_crc32c(0, buffer.baseAddress, buffer.count) }
    }
}
