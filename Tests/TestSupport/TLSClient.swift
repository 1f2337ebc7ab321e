import CTLSClient

/// The client's side of TLS, in memory; every certificate is trusted. A `RawClient` carries its bytes, or a test.
@safe package final class TLSClient {
    package enum Outcome: Equatable {
        case done(Int)
        /// Bytes of the server are needed.
        case waits
        case ended
        case failed
    }

    private let pointer: OpaquePointer
    /// Whether the server has sent close_notify, or an alert.
    package private(set) var isEnded = false

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - version: 12 or 13, for the one version that it speaks.
    ///   - protocols: the names that it offers.
    ///   - earlier: a client whose session it goes on with.
    package init(version: Int32 = 13, protocols: [String] = [], resuming earlier: TLSClient? = nil) {
        var offered: [CChar] = []
        for name in protocols { offered += [CChar(name.utf8.count)] + name.utf8.map { CChar($0) } }
        unsafe pointer = ctls_client_make(version, offered + [0])
        if let earlier { unsafe ctls_client_resume(pointer, earlier.pointer) }
    }

    deinit { unsafe ctls_client_free(pointer) }

    package func handshake() -> Outcome { outcome(unsafe ctls_client_handshake(pointer)) }

    /// The next decrypted bytes; nil where there are none.
    package func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe ctls_client_read(pointer, bytes.baseAddress, Int32(bytes.count))
        }
        guard case .done(let count) = outcome(count) else { return nil }
        return Array(bytes[..<count])
    }

    /// Encrypts bytes for `takeOutput`.
    package func write(_ bytes: [UInt8]) -> Bool {
        bytes.isEmpty || outcome(unsafe ctls_client_write(pointer, bytes, Int32(bytes.count))) == .done(bytes.count)
    }

    package func closeNotify() { unsafe ctls_client_close_notify(pointer) }

    /// Asks the server to use new keys, as both sides do from then on.
    package func updateKeys() -> Bool { unsafe ctls_client_update_keys(pointer) }

    /// The bytes for the server so far.
    package func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe ctls_client_take(pointer, bytes.baseAddress, Int32(bytes.count))
            }
            if count == 0 { return output }
            output += bytes[..<Int(count)]
        }
    }

    /// Takes bytes of the server.
    package func give(_ bytes: [UInt8]) { unsafe ctls_client_give(pointer, bytes, Int32(bytes.count)) }

    /// Whether the session goes on from an earlier one.
    package var isResumed: Bool { unsafe ctls_client_is_resumed(pointer) }

    /// Whether the server chose `http/1.1`.
    package var speaksHTTP11: Bool { unsafe ctls_client_speaks_http11(pointer) }

    /// The number of the alert by which the server ended the connection; 0 for none.
    package var alert: Int32 { unsafe ctls_client_alert(pointer) }

    /// The expiry of the server's certificate, in seconds since 1970.
    package var peerExpiry: Int64 { unsafe ctls_client_peer_expiry(pointer) }

    private func outcome(_ result: Int32) -> Outcome {
        switch result {
        case 1...: return .done(Int(result))
        case Int32(CTLS_CLIENT_WAITS): return .waits
        case Int32(CTLS_CLIENT_ENDED):
            isEnded = true
            return .ended
        default:
            isEnded = true
            return .failed
        }
    }
}
