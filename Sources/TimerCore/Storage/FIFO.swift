/// A queue in chunks of arrays: an element costs its own size and no more, and no step takes longer than a chunk,
/// however many wait.
public struct FIFO<Element> {
    /// The number of elements of a chunk.
    @inlinable static var chunkSize: Int { 1024 }

    /// The next elements in reverse order, so that `popLast` takes the very next one.
    @usableFromInline var front: [Element] = []
    /// The full chunks between front and back, from `start` on; those before `start` are empty.
    @usableFromInline var chunks: [[Element]] = []
    @usableFromInline var start = 0
    /// The newest elements, in order, fewer than a chunk has.
    @usableFromInline var back: [Element] = []

    /// Makes an empty queue.
    @inlinable
    public init() {}

    /// Whether the queue is empty.
    @inlinable public var isEmpty: Bool { front.isEmpty && back.isEmpty && start == chunks.count }

    /// The number of elements.
    @inlinable public var count: Int { front.count + (chunks.count - start) * Self.chunkSize + back.count }

    /// The oldest element; nil if the queue is empty.
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

    /// Removes the oldest element and returns it; nil if the queue is empty.
    @inlinable
    public mutating func popFirst() -> Element? {
        if front.isEmpty { refill() }
        return front.popLast()
    }

    /// The element at `offset` from the oldest, which is at 0.
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
