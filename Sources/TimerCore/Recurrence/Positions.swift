import Primitives

/// The members of a period's set that `BYSETPOS` selects, by their positions; all of them if there is no position.
struct Positions: Sendable, Equatable {
    /// The positions from the start, ascending, from 1 on.
    var forward: [Int64] = []
    /// The positions from the end, ascending, up to -1.
    var backward: [Int64] = []

    var isEmpty: Bool { forward.isEmpty && backward.isEmpty }

    /// Returns the first selected index that is not before `index`, of a set of `total` members; nil when there is
    /// none.
    func first(notBefore index: Int64, of total: Int64) -> Int64? {
        if isEmpty { return index < total ? index : nil }
        var found = total
        let ahead = forward.count(through: index)
        if ahead < forward.count { found = min(found, forward[ahead] - 1) }
        let behind = backward.count(through: max(index, 0) - total - 1)
        if behind < backward.count { found = min(found, backward[behind] + total) }
        return found < total ? found : nil
    }

    /// Returns how many indexes before `index` are selected, of a set of `total` members.
    func count(before index: Int64, of total: Int64) -> Int64 {
        let end = min(index, total)
        if isEmpty { return end }
        var count = forward.count(through: end)
        for position in backward where position + total >= 0 && position + total < end {
            if !forward.holds(position + total + 1) { count += 1 }
        }
        return Int64(count)
    }
}

// Ascending numbers.
extension [Int64] {
    /// Returns how many elements are at most `value`.
    func count(through value: Int64) -> Int { countPrefix { $0 <= value } }

    /// Whether `value` is an element.
    func holds(_ value: Int64) -> Bool {
        let count = count(through: value)
        return count > 0 && self[count - 1] == value
    }

    /// The elements in ascending order, each once.
    var ascending: [Int64] {
        var result: [Int64] = []
        for value in sorted() where value != result.last { result.append(value) }
        return result
    }
}
