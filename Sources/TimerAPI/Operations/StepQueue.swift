/// Requests that wait for a step, in the order in which they came.
///
/// The queue is no `FIFO` of another module, which the optimizer does not specialize for `Ticket`: that cost a GET
/// 2,600 instructions.
struct StepQueue<Element> {
    private var elements: [Element?] = []
    /// The index of the oldest element.
    private var head = 0

    /// The number of empty places at the front up to which the rest is not moved.
    private static var mostTaken: Int { 1024 }

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the oldest element; nil if the queue is empty.
    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head > Self.mostTaken, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
