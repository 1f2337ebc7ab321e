import Platform
import TimerCore
import TimerLog

/// Where timers go to whose clients give them no id: to an eighth of the partitions, and to another eighth some milliseconds
/// later.
///
/// An append then holds few rows of many timers each, instead of a row for nearly each timer. A row costs the server and the
/// database several times what one more timer in a row costs.
struct DrawRange {
    /// How many top bits of a hash number an eighth.
    private static let bits = 3
    /// How long it stays the same: about as long as a commit takes.
    private static let milliseconds: Int64 = 8
    /// Ids drawn at most for a timer; the last one is taken wherever it falls.
    private static let tries = 128
    /// Spreads numbers that follow each other evenly over the top bits.
    private static let golden: UInt64 = 0x9E37_79B9_7F4A_7C15

    private let siphash: SipHash
    /// How far hashes are shifted so that `wanted` is left; 64 where any id will do.
    private let shift: UInt64
    private let wanted: UInt64

    /// - Parameter time: milliseconds since 1970.
    init(_ layout: PartitionLayout, siphash: SipHash, at time: Int64 = Clocks.realtime() / 1_000_000) {
        self.siphash = siphash
        let spread = UInt64(bitPattern: time / Self.milliseconds) &* Self.golden
        shift = UInt64(64 - min(Self.bits, layout.bits))
        wanted = spread >> shift
    }

    /// An id of the range, of those that `makeID` draws.
    func id(_ makeID: () -> [UInt8]) -> [UInt8] {
        var id = makeID()
        guard shift < 64 else { return id }
        for _ in 1..<Self.tries {
            if TimerKey(id: id.span, siphash: siphash).hash >> shift == wanted { break }
            id = makeID()
        }
        return id
    }
}
