import Primitives

/// A timer's name with its keyed hash, made before the lock is taken.
public struct TimerKey: Sendable, Hashable {
    /// The namespace and id in their kept form, as a definition begins.
    let bytes: [UInt8]
    /// The keyed hash, which is the timer's place in lists.
    public let hash: UInt64

    /// Makes the key of the timer that `id` (a valid `TimerID`) names in the default namespace.
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

    /// Makes the key of the timer of `definition`, whole or a prefix.
    public init(definition: Span<UInt8>, siphash: SipHash) {
        var bytes: [UInt8] = []
        bytes.append(copying: definition.extracting(0..<Definition.nameCount(definition)))
        self.bytes = bytes
        hash = siphash.hash(bytes.span)
    }

    /// Returns the hash of the name of the timer of `definition`, whole or a prefix.
    public static func hash(definition: Span<UInt8>, siphash: SipHash) -> UInt64 {
        siphash.hash(definition.extracting(0..<Definition.nameCount(definition)))
    }
}
