extension RandomAccessCollection where Index == Int {
    /// Returns how many elements come before the first that does not match; all that match come first.
    @inlinable
    public func countPrefix(where matches: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) >> 1
            if matches(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low - startIndex
    }
}
