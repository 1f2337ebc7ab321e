import WireJSON

/// The decoded components of a path, in one array of bytes.
struct PathParts: RandomAccessCollection, Equatable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    var startIndex: Int { 0 }
    var endIndex: Int { ends.count }

    subscript(index: Int) -> ArraySlice<UInt8> { bytes[range(index)] }

    /// Whether the component at `index` is `word`.
    func has(_ word: StaticString, at index: Int) -> Bool {
        bytes.span.equals(word, in: range(index))
    }

    mutating func append(_ part: ArraySlice<UInt8>) {
        bytes.append(contentsOf: part)
        ends.append(bytes.count)
    }

    /// Removes all components. The memory is kept, unless it is more than any route needs.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 1024)
        ends.removeAll(keepingCapacity: ends.capacity <= 64)
    }

    private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }
}
