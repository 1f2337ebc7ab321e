/// A queue in chunks of arrays: an element costs its own size and no more, and no step takes longer than a chunk,
/// however many wait.
struct FIFO<Element: Sendable>: Sendable {
    /// Elements of a chunk.
    static var chunkSize: Int { 1024 }

    /// What comes next, last first, so that taking it gives its place back.
    private var front: [Element] = []
    /// Full chunks between front and back, from `start` on; those before it are empty.
    private var chunks: [[Element]] = []
    private var start = 0
    /// What came last, in order; less than a chunk.
    private var back: [Element] = []

    var isEmpty: Bool { front.isEmpty && back.isEmpty && start == chunks.count }

    mutating func append(_ element: Element) {
        back.append(element)
        guard back.count == Self.chunkSize else { return }
        chunks.append(back)
        back = []
        back.reserveCapacity(Self.chunkSize)
    }

    /// The oldest. There must be one.
    mutating func removeFirst() -> Element {
        if front.isEmpty { refill() }
        guard let element = front.popLast() else { preconditionFailure("what is queued is there") }
        return element
    }

    private mutating func refill() {
        if start == chunks.count {
            swap(&front, &back)
        } else {
            front = []
            swap(&front, &chunks[start])
            start += 1
            if start * 2 >= chunks.count {
                chunks.removeFirst(start)
                start = 0
            }
        }
        front.reverse()
    }
}
