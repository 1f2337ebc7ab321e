import Glibc
import TLS
import TestSupport
import Testing

/// A session on one end of a pair of sockets, and a client whose bytes the test carries to the other end.
final class SessionPair {
    let session: TLSSession
    let client: TLSClient
    private let ends: [Int32]

    init(_ client: TLSClient = TLSClient(), context: TLSContext? = nil) throws {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue
        try #require(unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0)
        self.ends = ends
        self.client = client
        let context = try context ?? TestCertificate.shared.get().context()
        session = try #require(TLSSession(context, socket: ends[0]))
    }

    deinit { for end in ends { close(end) } }

    /// Sends bytes to the session as they are.
    func send(_ bytes: [UInt8]) { unsafe Glibc.write(ends[1], bytes, bytes.count) }

    /// Ends the client's side of the sockets.
    func end() { shutdown(ends[1], Int32(SHUT_WR)) }

    /// Gives the client what the session has sent. Returns how many bytes.
    @discardableResult
    func receive() -> Int {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        while true {
            let count = unsafe recv(ends[1], &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return total }
            client.give(Array(bytes[..<count]))
            total += count
        }
    }

    /// Carries bytes both ways until the handshake is over. Returns what became of the session's side.
    func shakeHands() -> TLSSession.Outcome {
        for _ in 0..<10 {
            _ = client.handshake()
            send(client.takeOutput())
            let outcome = session.handshake()
            receive()
            if outcome != .wantsReading {
                _ = client.handshake()
                return outcome
            }
        }
        return .wantsReading
    }

    /// Reads from the session.
    func read() -> (TLSSession.Outcome, [UInt8]) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let outcome = unsafe bytes.withUnsafeMutableBytes { unsafe session.read(into: $0) }
        if case .done(let count) = outcome { return (outcome, Array(bytes[..<count])) }
        return (outcome, [])
    }

    /// Writes to the session once.
    func write(_ bytes: [UInt8]) -> TLSSession.Outcome {
        unsafe bytes.withUnsafeBytes { unsafe session.write($0) }
    }
}
