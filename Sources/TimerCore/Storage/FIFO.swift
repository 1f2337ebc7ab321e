/// A queue in chunks of arrays: an element costs its own size and no more, and no step takes longer than a chunk,
/// however many wait.
public struct FIFO<Element> {
    /// Elements of a chunk.
    @inlinable static var chunkSize: Int { 1024 }

    /// The next elements, the very next at the end, from where `popLast` takes them.
    @usableFromInline var front: [Element] = []
    /// Full chunks between front and back, from `start` on; those before it are empty.
    @usableFromInline var chunks: [[Element]] = []
    @usableFromInline var start = 0
    /// The newest elements, in order; less than a chunk.
    @usableFromInline var back: [Element] = []

    /// An empty queue.
    @inlinable
    public init() {}

    /// Whether there is nothing.
    @inlinable public var isEmpty: Bool { front.isEmpty && back.isEmpty && start == chunks.count }

    /// How many there are.
    @inlinable public var count: Int { front.count + (chunks.count - start) * Self.chunkSize + back.count }

    /// The oldest; nil where there is nothing.
    @inlinable public var first: Element? { front.last ?? (start < chunks.count ? chunks[start].first : back.first) }

    /// Adds an element to the end.
    @inlinable
    public mutating func append(_ element: Element) {
        back.append(element)
        guard back.count == Self.chunkSize else { return }
        chunks.append(back)
        back = []
        back.reserveCapacity(Self.chunkSize)
    }

    /// Takes the oldest; nil where there is nothing.
    @inlinable
    public mutating func popFirst() -> Element? {
        if front.isEmpty { refill() }
        return front.popLast()
    }

    /// The element that `offset` others come before.
    @inlinable
    public subscript(offset: Int) -> Element {
        if offset < front.count { return front[front.count - 1 - offset] }
        let place = offset - front.count
        let chunk = start + place / Self.chunkSize
        return chunk < chunks.count ? chunks[chunk][place % Self.chunkSize] : back[place % Self.chunkSize]
    }

    @usableFromInline
    mutating func refill() {
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

extension FIFO: Sendable where Element: Sendable {}
