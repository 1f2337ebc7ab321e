import Platform
import WireJSON

/// Makes UUIDs of version 7, from the kernel's random numbers taken in bulk. Confined to one loop.
final class IDSource {
    private var pool: [UInt64] = []

    /// The count of random numbers taken from the kernel at a time.
    private static let poolCount = 256

    /// Returns the text of a new UUID.
    func next() -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(UUIDv7.count)
        next(into: &text)
        return text
    }

    /// Replaces `text` by the text of a new UUID.
    func next(into text: inout [UInt8]) {
        text.removeAll(keepingCapacity: true)
        let milliseconds = Clocks.realtime() / 1_000_000
        UUIDv7.append(milliseconds: milliseconds, random: (random(), random()), to: &text)
    }

    private func random() -> UInt64 {
        if pool.isEmpty {
            pool = KernelRandom.words(Self.poolCount)
        }
        return pool.removeLast()
    }
}
