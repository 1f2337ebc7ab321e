/// A set of days within a year's length of its first.
struct DaySet {
    /// The day of the first bit, counted from 1970-01-01.
    let firstDay: Int64
    private var words = InlineArray<6, UInt64>(repeating: 0)

    init(firstDay: Int64) { self.firstDay = firstDay }

    /// Makes the set of the days whose bits are set, from `firstDay` on.
    init(firstDay: Int64, _ mask: UInt64) {
        self.firstDay = firstDay
        words[0] = mask
    }

    /// The number of days.
    var count: Int64 {
        var count = 0
        // Most sets are within a month, which is one word.
        for index in words.indices where words[index] != 0 { count += words[index].nonzeroBitCount }
        return Int64(count)
    }

    /// Adds days: bit n of `mask` is the day `n + offset` days after the first. Days before the first are left out.
    mutating func insert(_ mask: UInt64, at offset: Int) {
        guard offset >= 0 else {
            words[0] |= mask >> UInt64(-offset)
            return
        }
        let (word, bit) = offset.quotientAndRemainder(dividingBy: 64)
        words[word] |= mask << UInt64(bit)
        if bit > 0, word + 1 < words.count { words[word + 1] |= mask >> UInt64(64 - bit) }
    }

    /// Removes the days that are not in `other`, which has the same first day.
    mutating func formIntersection(_ other: DaySet) {
        for index in words.indices { words[index] &= other.words[index] }
    }

    /// Whether there is no day.
    var isEmpty: Bool {
        for index in words.indices where words[index] != 0 { return false }
        return true
    }

    /// Whether a day is in the set.
    func contains(_ day: Int64) -> Bool {
        guard day >= firstDay, day < firstDay + Int64(words.count * 64) else { return false }
        let (word, bit) = Int(day - firstDay).quotientAndRemainder(dividingBy: 64)
        return words[word].has(bit)
    }

    /// Returns how many days of the set come before a day.
    func count(before day: Int64) -> Int64 {
        guard day > firstDay else { return 0 }
        guard day < firstDay + Int64(words.count * 64) else { return count }
        let (word, bit) = Int(day - firstDay).quotientAndRemainder(dividingBy: 64)
        var count = (words[word] & ((1 << UInt64(bit)) - 1)).nonzeroBitCount
        for index in 0..<word { count += words[index].nonzeroBitCount }
        return Int64(count)
    }

    /// Returns the day that comes after `index` others; `index` is below `count`.
    func day(at index: Int64) -> Int64 {
        var rest = Int(index)
        var word = 0
        while rest >= words[word].nonzeroBitCount {
            rest -= words[word].nonzeroBitCount
            word += 1
        }
        return firstDay + Int64(word * 64 + words[word].setBit(rest))
    }
}
