import Platform
import TestSupport
import TimerLog

@testable import TimerService

/// A partition as streams see it, on a clock of its own, whose batches are taken and land as a test says.
final class FeedPartition: EventSource {
    private struct State {
        var next: Int64 = 0
        var clock: Int64 = 0
        var tail: Int64 = 0
        var flight: [LogRow] = []
        var promises = 0
        var beforePromise: (@Sendable () -> Void)?
    }

    let number: Int
    let hub: EventHub
    let store: any LogStore
    private let layout: PartitionLayout
    private let state = Guarded(State())

    init(_ number: Int, _ layout: PartitionLayout, _ store: any LogStore = MemoryLogStore()) throws {
        self.number = number
        self.layout = layout
        self.store = store
        hub = EventHub(head: 0)
        _ = try store.open()
    }

    /// Takes the log of `other` over, whose batch under way is lost. Nothing of it is in memory.
    init(after other: FeedPartition) {
        (number, layout, store) = (other.number, other.layout, other.store)
        state.withLock { $0 = other.state.withLock { $0 } }
        hub = EventHub(head: state.withLock { $0.tail })
        lose()
    }

    /// Sets its clock.
    func setClock(_ position: Int64) { state.withLock { $0.clock = position } }

    var clockPosition: Int64 { state.withLock { $0.clock } }

    /// How often it was asked for a promise.
    var promises: Int { state.withLock { $0.promises } }

    /// Whether a batch is under way.
    var isBusy: Bool { state.withLock { !$0.flight.isEmpty } }

    /// Takes a batch with rows of so many records, which is under way from now on. Returns the records' positions.
    @discardableResult
    func take(_ counts: Int..., bytes: Int = 40) -> [Int64] { take(counts, bytes: bytes) }

    @discardableResult
    func take(_ counts: [Int], bytes: Int = 40) -> [Int64] {
        state.withLock { state in
            var positions: [Int64] = []
            var position = layout.position(atOrAfter: max(state.next, state.clock), in: number)
            var previous = state.tail
            for count in counts {
                let last = position + Int64(count - 1) * layout.stride
                state.flight.append(
                    LogRow(
                        first: position, last: last, previous: previous, partition: Int32(number),
                        data: pattern(position, bytes)))
                positions += stride(from: position, through: last, by: Int(layout.stride)).map { Int64($0) }
                previous = last
                position = last + layout.stride
            }
            state.next = position
            return positions
        }
    }

    /// Has the batch under way reach the disk, and its rows shown.
    func land() {
        let (rows, tail) = state.withLock { ($0.flight, $0.tail) }
        guard let last = rows.last?.last else { return }
        precondition(store.append(rows, expecting: tail, epoch: 0) == .durable, "the rows form a chain")
        hub.publish(rows)
        state.withLock { ($0.flight, $0.tail) = ([], last) }
        hub.notify()
    }

    /// Gives the batch under way up.
    func lose() { state.withLock { $0.flight = [] } }

    /// Lets rows go from memory, but for those after `position`.
    func forget(through position: Int64) { hub.reset(head: position, keeping: position) }

    /// Has `body` called when the next promise is asked for.
    func beforePromise(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforePromise = body } }

    func makeReader() throws(StoreError) -> any LogReader { try store.makeReader() }

    func promise(through position: Int64) -> Int64 {
        state.withLock { $0.beforePromise.take() }?()
        return state.withLock { state in
            state.promises += 1
            if let first = state.flight.first?.first { return min(position, first - 1) }
            let through = max(state.next - 1, min(position, state.clock + PositionClock.perSecond))
            state.next = max(state.next, through + 1)
            return min(position, through)
        }
    }
}
