/// The address and port that a connection is to be made to, after DNS.
public struct CourierAddress: Sendable, Hashable {
    /// The address in network order: 4 bytes of IPv4 or 16 of IPv6.
    public let bytes: [UInt8]
    /// The TCP port.
    public let port: UInt16

    /// Makes an address of 4 or 16 bytes.
    public init(bytes: [UInt8], port: UInt16) {
        self.bytes = bytes
        self.port = port
    }
}
