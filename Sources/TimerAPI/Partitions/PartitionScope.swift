import TimerLog

/// Some partitions of a volume, by rising numbers: those that a run goes through.
struct PartitionScope: Equatable {
    /// How many partitions the volume has.
    let count: Int
    /// A bit for each partition, the lowest of the first word for partition 0; empty for all of them.
    private var words: [UInt64]

    /// All partitions.
    init(_ layout: PartitionLayout) {
        count = layout.count
        words = []
    }

    /// Those with the given numbers, each below the layout's count.
    init(_ numbers: some Sequence<Int>, of layout: PartitionLayout) {
        count = layout.count
        words = [UInt64](repeating: 0, count: (layout.count + 63) / 64)
        for number in numbers { words[number / 64] |= 1 << UInt64(number % 64) }
    }

    /// A single partition of those of another scope's volume.
    init(_ other: PartitionScope, only number: Int) {
        count = other.count
        words = [UInt64](repeating: 0, count: (other.count + 63) / 64)
        words[number / 64] |= 1 << UInt64(number % 64)
    }

    /// Whether no partition is left out.
    var isWhole: Bool { words.isEmpty || numbers.count == count }

    /// Whether it has no partition.
    var isEmpty: Bool { !words.isEmpty && words.allSatisfy { $0 == 0 } }

    func contains(_ number: Int) -> Bool {
        guard (0..<count).contains(number) else { return false }
        return words.isEmpty || words[number / 64] & 1 << UInt64(number % 64) != 0
    }

    /// The least partition of at least `number`; nil where there is none.
    func first(from number: Int = 0) -> Int? {
        guard number < count else { return nil }
        if words.isEmpty { return number }
        var word = words[number / 64] & (.max << UInt64(number % 64))
        var index = number / 64
        while word == 0 {
            index += 1
            guard index < words.count else { return nil }
            word = words[index]
        }
        return index * 64 + word.trailingZeroBitCount
    }

    /// The least partition behind `number`; nil behind the last.
    func next(after number: Int) -> Int? { first(from: number + 1) }

    /// The numbers, rising.
    var numbers: [Int] {
        var numbers: [Int] = []
        var next = first()
        while let number = next {
            numbers.append(number)
            next = self.next(after: number)
        }
        return numbers
    }

    // MARK: As text

    /// The bits as hexadecimal digits, from the highest: as many as the volume's partitions need.
    var text: String {
        let digits = (count + 3) / 4
        return String(
            (0..<digits).reversed().map { digit in
                let value = (0..<4).reduce(0) { value, bit in
                    let number = digit * 4 + bit
                    return number < count && contains(number) ? value | 1 << bit : value
                }
                return Character(String(value, radix: 16))
            })
    }

    /// Reads what `text` gives; nil for anything else, and for no partition.
    init?(_ text: some Collection<UInt8>, of layout: PartitionLayout) {
        guard text.count == (layout.count + 3) / 4 else { return nil }
        var numbers: [Int] = []
        for (place, byte) in text.enumerated() {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            let digit = text.count - 1 - place
            for bit in 0..<4 where value & 1 << UInt8(bit) != 0 { numbers.append(digit * 4 + bit) }
        }
        guard !numbers.isEmpty, numbers.allSatisfy({ $0 < layout.count }) else { return nil }
        self.init(numbers, of: layout)
    }
}
