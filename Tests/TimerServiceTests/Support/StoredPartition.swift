import TimerLog

@testable import TimerService

/// A partition with a store that is read, and nothing in memory.
final class StoredPartition: EventSource {
    let number = 0
    let hub = EventHub(head: 0)
    let store: any LogStore
    var clockPosition: Int64 { 0 }

    init(_ store: any LogStore) { self.store = store }

    func makeReader() throws(StoreError) -> any LogReader { try store.makeReader() }

    func promise(through position: Int64) -> Int64 { position }
}
