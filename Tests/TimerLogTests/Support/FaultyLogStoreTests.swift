import TestSupport
import Testing
import TimerLog

struct FaultyLogStoreTests {
    let store = FaultyLogStore()

    init() throws { _ = try store.open() }

    @Test(arguments: [(FaultyLogStore.Outcome.unknownButWritten, Int64(10)), (.unknownAndLost, 0)])
    func `an unknown outcome is decided by the next open`(_ outcome: FaultyLogStore.Outcome, _ last: Int64) throws {
        store.plan(outcome)
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .unknown(FaultyLogStore.failure))
        #expect(try rows(of: store) == [])
        guard case .absent = store.append(chain(count: 1), expecting: 0, epoch: 0) else {
            Issue.record("a store in doubt took rows")
            return
        }
        store.failOpens(2)
        for _ in 0..<2 { #expect(throws: StoreError.self) { try store.open() } }
        #expect(try store.open().last == last)
        #expect(store.append(chain(after: last, count: 1), expecting: last, epoch: 0) == .durable)
        #expect(store.openCount == 4)
        #expect(store.appendCount == 3)
    }

    @Test func `refusals write nothing and the script ends in success`() throws {
        store.plan(.absent, .diverged, .durable)
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .absent(FaultyLogStore.failure))
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .diverged(FaultyLogStore.failure))
        #expect(try rows(of: store) == [])
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .durable)
        #expect(store.append(chain(after: 10, count: 1), expecting: 10, epoch: 0) == .durable)
        #expect(try rows(of: store).count == 2)
    }

    @Test func `reads fail as often as asked`() throws {
        let reader = try store.makeReader()
        store.failReads(2)
        #expect(throws: StoreError.self) { try rows(of: reader) }
        #expect(throws: StoreError.self) { try reader.row(holding: 1) }
        #expect(try rows(of: reader) == [])
    }
}
