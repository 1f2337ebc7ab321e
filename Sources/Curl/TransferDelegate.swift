/// Takes the answer of a transfer and decides about it. Called on the thread that runs the transfer.
public protocol TransferDelegate: AnyObject {
    /// Takes a line of the answer's head with its line end, interim answers and trailers included; false aborts
    /// the transfer.
    func head(_ line: Span<UInt8>) -> Bool

    /// Takes a piece of the answer's body; false aborts the transfer.
    func body(_ bytes: Span<UInt8>) -> Bool

    /// Called about once a second and whenever something moves, after `EasyHandle.setPulse`; false aborts the
    /// transfer.
    func pulse() -> Bool

    /// Whether a connection may be made, after `EasyHandle.setConnectionChecks`; if not, libcurl tries the host's next
    /// address.
    ///
    /// - Parameter address: 4 or 16 bytes in network order; nil for an address of another family.
    func mayConnect(to address: [UInt8]?, port: UInt16) -> Bool

    /// Whether the request may go out over its connection, new or kept, after `EasyHandle.setConnectionChecks`.
    ///
    /// - Parameter address: as text, without brackets.
    func mayUse(_ address: String, port: UInt16) -> Bool
}

extension TransferDelegate {
    /// Returns true: the transfer goes on.
    public func pulse() -> Bool { true }
    /// Allows every connection.
    public func mayConnect(to address: [UInt8]?, port: UInt16) -> Bool { true }
    /// Allows every request.
    public func mayUse(_ address: String, port: UInt16) -> Bool { true }
}
