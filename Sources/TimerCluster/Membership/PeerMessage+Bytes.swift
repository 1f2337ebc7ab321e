/// Messages as they go over the network: a byte for the kind, then five integers of eight bytes, the greatest byte first. Those
/// that a kind has no use for are 0.
extension PeerMessage {
    /// Bytes of a message.
    static let encodedBytes = 1 + 5 * 8

    /// The message as `session` says it.
    public func bytes(from session: Int64) -> [UInt8] {
        switch self {
        case .prepare(let partition, let epoch, let askedAt):
            Self.encode(1, [session, Int64(partition), epoch, askedAt, 0])
        case .prepared(let partition, let epoch, let askedAt, let rows):
            Self.encode(2, [session, Int64(partition), epoch, askedAt, Int64(rows)])
        case .given(let partition, let epoch, let target):
            Self.encode(3, [session, Int64(partition), epoch, target, 0])
        case .cancelled(let partition, let epoch): Self.encode(4, [session, Int64(partition), epoch, 0, 0])
        }
    }

    /// A message of `bytes`, and the session that says it; nil where they are none about one of so many `partitions`.
    public static func decode(_ bytes: [UInt8], partitions: Int) -> (message: PeerMessage, session: Int64)? {
        guard bytes.count == encodedBytes else { return nil }
        let values = stride(from: 1, to: encodedBytes, by: 8).map { start in
            bytes[start..<start + 8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        guard values.allSatisfy({ $0 >= 0 }), values[1] < partitions else { return nil }
        let (session, partition, epoch) = (values[0], Int(values[1]), values[2])
        switch bytes[0] {
        case 1: return (.prepare(partition: partition, epoch: epoch, askedAt: values[3]), session)
        case 2:
            return (.prepared(partition: partition, epoch: epoch, askedAt: values[3], rows: Int(values[4])), session)
        case 3: return (.given(partition: partition, epoch: epoch, session: values[3]), session)
        case 4: return (.cancelled(partition: partition, epoch: epoch), session)
        default: return nil
        }
    }

    private static func encode(_ kind: UInt8, _ values: [Int64]) -> [UInt8] {
        [kind] + values.flatMap { value in (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
    }
}
