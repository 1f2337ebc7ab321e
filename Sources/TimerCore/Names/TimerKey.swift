import Primitives

/// A timer's name with its keyed hash, made before the lock is taken.
public struct TimerKey: Sendable, Hashable {
    /// Namespace and id in their kept form, as a definition begins.
    let bytes: [UInt8]
    /// The keyed hash that places it in lists.
    public let hash: UInt64

    /// The key of the timer that `id` (a valid `TimerID`) names in the default namespace.
    public init(id: Span<UInt8>, siphash: SipHash) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(id.count + 2)
        bytes.append(0)
        TimerID.appendKept(id, to: &bytes)
        self.bytes = bytes
        hash = siphash.hash(bytes.span)
    }

    /// Whether `definition`, whole or a prefix, is this timer's.
    public func names(_ definition: Span<UInt8>) -> Bool {
        guard definition.count >= bytes.count else { return false }
        for index in bytes.indices where definition[index] != bytes[index] { return false }
        return true
    }

    /// The key at the start of the definition, or prefix of one, `definition`.
    public init(definition: Span<UInt8>, siphash: SipHash) {
        var bytes: [UInt8] = []
        bytes.append(copying: definition.extracting(0..<Definition.nameCount(definition)))
        self.bytes = bytes
        hash = siphash.hash(bytes.span)
    }

    /// The hash of the key at the start of the definition, or prefix of one, `definition`.
    public static func hash(definition: Span<UInt8>, siphash: SipHash) -> UInt64 {
        siphash.hash(definition.extracting(0..<Definition.nameCount(definition)))
    }

    /// An id near `id` whose keyed hash `isWanted` takes, for one hash in many: `id` itself, or where that is a UUID, `id` with
    /// its last 16 bits counted on, which costs a hash each, where drawing another id costs much more. Nil where there is none.
    public static func id(
        near id: [UInt8], siphash: SipHash, where isWanted: (_ hash: UInt64) -> Bool
    ) -> [UInt8]? {
        var bytes = TimerKey(id: id.span, siphash: siphash).bytes
        let isUUID = bytes[1] == TimerID.uuidMark
        for _ in 0..<(isUUID ? 1 << 16 : 1) {
            if isWanted(siphash.hash(bytes.span)) {
                var offset = 1
                return TimerID.readKept(bytes.span, &offset)
            }
            bytes[bytes.count - 1] &+= 1
            if bytes[bytes.count - 1] == 0 { bytes[bytes.count - 2] &+= 1 }
        }
        return nil
    }
}
