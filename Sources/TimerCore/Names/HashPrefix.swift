/// The top bits that the keyed hashes of all timers of one scheduler share: the number of their partition.
///
/// An index of those timers uses the 32 bits below the prefix: the top 32 differ in their lowest bits alone, and its
/// directory would be as deep as that of an index of all partitions.
///
/// Places in lists are whole 64-bit hashes, and records hold the top half of one, so neither depends on how many
/// partitions there are. The order of the indexed bits is the order of those places, and the prefix and the indexed bits
/// together give the top half back.
public struct HashPrefix: Sendable, Equatable {
    /// The most bits that a prefix may have.
    public static let mostBits = 16
    /// No bits: the scheduler has timers of any hash.
    public static let none = HashPrefix(checkedBits: 0, 0)

    /// How many top bits of a hash belong to the prefix.
    public var bits: Int { Int(width) }
    private let width: UInt32
    private let number: UInt32

    private init(checkedBits bits: UInt32, _ number: UInt32) { (width, self.number) = (bits, number) }

    /// The prefix of `bits` bits that are `number`; nil where `bits` are too many, or too few for it.
    public init?(bits: Int, number: Int) {
        guard (0...Self.mostBits).contains(bits), (0..<1 << bits).contains(number) else { return nil }
        self.init(checkedBits: UInt32(bits), UInt32(number))
    }

    // The shifts are masked, which spares a check: they are by less than their type's bits, but for the one by 32 where
    // there is no prefix, and there it shifts 0.

    /// What an index keeps of a hash: the 32 bits below the prefix.
    func indexed(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: (hash &<< UInt64(width)) &>> 32) }

    /// The top half of the hash of which an index keeps `indexed`.
    func topHalf(_ indexed: UInt32) -> UInt32 { number &<< (32 &- width) | indexed &>> width }

    /// What an index keeps of the hashes with this top half; nil where they have another prefix.
    func indexed(topHalf half: UInt32) -> ClosedRange<UInt32>? {
        let first = half &<< width
        guard topHalf(first) == half else { return nil }
        return first...first | (1 << width - 1)
    }

    /// Where the hashes that are not below `place` begin in an index; nil where `place` is behind all of the prefix.
    func indexed(from place: UInt64) -> UInt32? {
        let placePrefix = bits == 0 ? 0 : UInt32(place >> UInt64(64 - bits))
        if placePrefix == number { return indexed(place) }
        return placePrefix < number ? 0 : nil
    }
}
