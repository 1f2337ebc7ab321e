/// The first message of a handshake, judged by its first bytes before a session is made for it.
enum ClientHello {
    enum Judgement: Equatable {
        /// Too few bytes to judge.
        case incomplete
        /// A message of a size that clients send.
        case fits
        /// Not TLS, or a message so large that it would hold memory for nothing.
        case refused
    }

    /// The number of bytes that are enough: a record's head, and the head of the message in it.
    static let headBytes = 9
    /// The most bytes of a message. Those of browsers have some 2 KiB; the library itself would take 128 KiB.
    private static let mostBytes = 16 * 1024
    private static let handshakeRecord: UInt8 = 22
    private static let majorVersion: UInt8 = 3
    private static let clientHello: UInt8 = 1

    /// Judges a connection by the bytes that it begins with.
    static func judge(_ bytes: some Collection<UInt8>) -> Judgement {
        let bytes = Array(bytes.prefix(headBytes))
        let known: [Int: UInt8] = [0: handshakeRecord, 1: majorVersion, 5: clientHello]
        guard known.allSatisfy({ place, byte in bytes.count <= place || bytes[place] == byte }) else { return .refused }
        guard bytes.count == headBytes else { return .incomplete }
        // The message's head may be cut by a record's end, but no client sends so short a record.
        let recordSize = Int(bytes[3]) << 8 | Int(bytes[4])
        let size = Int(bytes[6]) << 16 | Int(bytes[7]) << 8 | Int(bytes[8])
        return recordSize >= headBytes - 5 && size <= mostBytes ? .fits : .refused
    }
}
