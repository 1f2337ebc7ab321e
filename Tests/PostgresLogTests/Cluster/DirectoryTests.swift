import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// The behaviour that directories share: the one in memory, which the simulation runs on, and that of PostgreSQL.
struct DirectoryTests {
    enum Kind: CaseIterable {
        case memory, postgres
    }

    /// A directory with its log.
    private struct Place {
        let directory: any ClusterDirectory
        let store: (Int64) throws -> any LogStore

        init(_ kind: Kind, format: Int = Int(BatchHeader.format)) throws {
            switch kind {
            case .memory:
                let memory = MemoryLogStore()
                directory = MemoryDirectory(memory, format: format)
                store = { memory.seen(by: $0) }
            case .postgres:
                let cluster = try Cluster()
                try cluster.execute("UPDATE timerd_meta SET value = '\(format)' WHERE key = 'format'")
                directory = PostgresDirectory(cluster.address)
                store = { try PostgresLogStore(cluster.address, session: $0) }
            }
        }

        func join(_ sessions: Int64...) throws {
            for session in sessions {
                try directory.join(
                    ClusterNode(session: session, url: "http://\(session)", reads: Int(BatchHeader.format)))
            }
        }

        func beat(
            _ session: Int64, promised: Int64 = 0, skew: Int64? = nil, isLeaving: Bool = false,
            memory: LogMemory = .cold
        ) throws -> ClusterView {
            try directory.beat(
                NodeBeat(
                    session: session, promised: promised, skew: skew, isLeaving: isLeaving, memory: memory))
        }

        func take(epoch: Int64, from: Int64, by session: Int64, clock: Int64 = 1 << 40) throws -> TakeOutcome {
            try directory.take(TakeOrder(epoch: epoch, from: from, session: session, clock: clock))
        }

        /// Takes the log for a session. Returns the barrier.
        func taken(epoch: Int64, from: Int64, by session: Int64, clock: Int64 = 1 << 40) throws -> Barrier {
            let outcome = try take(epoch: epoch, from: from, by: session, clock: clock)
            guard case .taken(let barrier) = outcome else { throw TimedOut(description: "taken, not \(outcome)") }
            return barrier
        }

        /// The owner of the log, as a session that never joined sees it.
        func owner() throws -> LogOwner { try beat(0).owner }
    }

    @Test(arguments: Kind.allCases)
    func `a new cluster belongs to nobody`(kind: Kind) throws {
        let place = try Place(kind)
        #expect(try place.owner() == LogOwner(epoch: 0, session: 0))
        try place.join(1)
        let view = try place.beat(1)
        #expect(view.isLive && view.owner == LogOwner(epoch: 0, session: 0) && view.format == Int(BatchHeader.format))
        #expect(view.end == 0)
        #expect(
            view.nodes == [ClusterNode(session: 1, beat: 1, url: "http://1", reads: Int(BatchHeader.format))]
        )
        #expect(abs(view.realtime - Clocks.realtime()) < 60_000_000_000)
    }

    @Test(arguments: Kind.allCases)
    func `a beat is counted and shows the nodes, and joining twice changes nothing`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(5, 3)
        _ = try place.beat(3, skew: -7, isLeaving: true)
        _ = try place.beat(3, skew: -8, isLeaving: true)
        try place.join(3)
        let view = try place.beat(5)
        #expect(view.nodes.map(\.session) == [3, 5])
        #expect(view.nodes.map(\.beat) == [2, 1])
        #expect(view.nodes.map(\.skew) == [-8, nil])
        #expect(view.nodes.map(\.isLeaving) == [true, false])
    }

    @Test(arguments: Kind.allCases)
    func `a session is ended only while its beat is the one that was seen, and stays ended`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2)
        _ = try place.beat(1)
        #expect(try !place.directory.end(1, at: 0))
        #expect(try place.beat(1).isLive)
        #expect(try place.directory.end(1, at: 2))
        #expect(try !place.directory.end(1, at: 2))
        let view = try place.beat(1)
        #expect(!view.isLive && view.nodes.map(\.session) == [2])
        try place.join(1)
        #expect(try !place.beat(1).isLive)
        try place.directory.leave(2)
        #expect(try place.beat(2).nodes.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a node that leaves tells what it really promised`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2, 3)
        _ = try place.taken(epoch: 0, from: 0, by: 1, clock: 1 << 40)
        _ = try place.beat(1, promised: 7 << 40)
        try place.directory.leave(1, promised: 5 << 40)
        // The session has left, so that a further leave does not count.
        try place.directory.leave(1, promised: 2 << 40)
        let second = try place.taken(epoch: 1, from: 1, by: 2, clock: 1 << 40)
        #expect(second.position == (5 << 40) + 1)
        _ = try place.beat(2, promised: 6 << 40)
        // A leave never promises more than the session's beats did.
        try place.directory.leave(2, promised: 9 << 40)
        let third = try place.taken(epoch: 2, from: 2, by: 3, clock: 1 << 40)
        #expect(third.position == (6 << 40) + 1)
    }

    @Test(arguments: Kind.allCases)
    func `a take begins an epoch behind the log, the clock and what the old owner promised`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2, 3)
        let first = try place.taken(epoch: 0, from: 0, by: 1, clock: 5 << 40)
        #expect(first.epoch == 1 && first.previous == 0)
        #expect(first.position == (5 << 40) + 1)
        _ = try place.beat(1, promised: 7 << 40)
        _ = try place.beat(1, promised: 6 << 40)
        try place.directory.leave(1)
        let second = try place.taken(epoch: 1, from: 1, by: 2, clock: 5 << 40)
        #expect(second == Barrier(epoch: 2, previous: first.position, position: (7 << 40) + 1))
        try place.directory.leave(2)
        let third = try place.taken(epoch: 2, from: 2, by: 3, clock: 1)
        #expect(third == Barrier(epoch: 3, previous: second.position, position: second.position + 1))
        #expect(try place.owner() == LogOwner(epoch: 3, session: 3))
        let store = try place.store(3)
        #expect(try store.open().last == third.position)
        let found = try rows(of: store)
        #expect(found.map(\.epoch) == [1, 2, 3] && found.map(\.first) == [first, second, third].map(\.position))
        #expect(found.allSatisfy { BatchHeader.kind(of: $0) == .barrier })
    }

    @Test(arguments: Kind.allCases)
    func `nothing is taken from the living, at another epoch, or by the ended`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2)
        _ = try place.taken(epoch: 0, from: 0, by: 1)
        #expect(try place.take(epoch: 1, from: 1, by: 2) == .refused)
        #expect(try place.take(epoch: 0, from: 0, by: 2) == .refused)
        try place.directory.leave(1)
        #expect(try place.take(epoch: 1, from: 1, by: 1) == .refused)
        #expect(try place.take(epoch: 1, from: 1, by: 9) == .refused)
        #expect(try place.owner() == LogOwner(epoch: 1, session: 1))
        _ = try place.taken(epoch: 1, from: 1, by: 2)
    }

    @Test(arguments: Kind.allCases)
    func `a session takes its own log again without minding its own promise`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1)
        let first = try place.taken(epoch: 0, from: 0, by: 1)
        _ = try place.beat(1, promised: 7 << 40)
        let again = try place.taken(epoch: 1, from: 1, by: 1)
        #expect(again == Barrier(epoch: 2, previous: first.position, position: first.position + 1))
    }

    @Test(arguments: Kind.allCases)
    func `an owner gives to a live session, after what it has promised`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2, 3)
        try place.directory.leave(3)
        let first = try place.taken(epoch: 0, from: 0, by: 1)
        func give(_ epoch: Int64, from: Int64, to: Int64) throws -> TakeOutcome {
            try place.directory.give(
                TakeOrder(epoch: epoch, from: from, session: to, clock: 3 << 40))
        }
        #expect(try give(1, from: 1, to: 3) == .refused)
        #expect(try give(1, from: 2, to: 2) == .refused)
        #expect(try give(0, from: 1, to: 2) == .refused)
        let barrier = Barrier(epoch: 2, previous: first.position, position: (3 << 40) + 1)
        #expect(try give(1, from: 1, to: 2) == .taken(barrier))
        #expect(try place.owner() == LogOwner(epoch: 2, session: 2))
    }

    @Test(arguments: Kind.allCases)
    func `the old owner's appends are refused after a take`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2)
        _ = try place.taken(epoch: 0, from: 0, by: 1)
        let old = try place.store(1)
        let head = try old.open()
        let chain = batch(after: head.last, count: 1, epoch: 1)
        #expect(old.append(chain, epoch: 1) == .durable)
        try place.directory.leave(1)
        let barrier = try place.taken(epoch: 1, from: 1, by: 2)
        #expect(barrier.previous == chain[0].last)
        #expect(try place.beat(2).end == barrier.position)
        let late = batch(after: chain[0].last, count: 1, epoch: 1)
        #expect(old.append(late, epoch: 1) == .fenced)
        #expect(throws: StoreError.self) { try old.open() }
        let new = try place.store(2)
        #expect(try new.open().last == barrier.position)
        let next = batch(after: barrier.position, count: 1, epoch: 2)
        #expect(new.append(next, epoch: 2) == .durable)
        #expect(try place.beat(0).end == next[0].last)
    }

    @Test(arguments: Kind.allCases)
    func `a view counts the rows that each standby has not read`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2, 3, 4)
        let barrier = try place.taken(epoch: 0, from: 0, by: 1)
        let store = try place.store(1)
        _ = try store.open()
        // Noise is stored as it is.
        let rows = batch(after: barrier.position, count: 5, epoch: 1).map { row in
            LogRow(first: row.first, last: row.last, previous: row.previous, epoch: row.epoch, data: noise(300))
        }
        #expect(store.append(rows, epoch: 1) == .durable)
        // A beat of the owner may be older than its newest rows.
        _ = try place.beat(1, memory: .through(barrier.position))
        _ = try place.beat(2, memory: .through(rows[4].last))
        _ = try place.beat(3)
        func unread(_ view: ClusterView) -> [UnreadRows?] { view.nodes.map(\.unread) }
        let none = UnreadRows(count: 0, bytes: 0)
        // The node that beats is counted from what it reports with the beat.
        let view = try place.beat(4, memory: .through(rows[1].last))
        #expect(unread(view) == [none, none, nil, UnreadRows(count: 3, bytes: 900)])
        #expect(unread(try place.beat(4)) == [none, none, nil, nil])
    }

    @Test(arguments: Kind.allCases)
    func `others see how much of the log a node holds`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2)
        for memory in [LogMemory.warming, .cold, .through(0), .through(.max)] {
            #expect(try place.beat(1, memory: memory).nodes[0].memory == memory)
            #expect(try place.beat(2).nodes[0].memory == memory)
        }
    }

    @Test(arguments: Kind.allCases)
    func `no more rows are counted than the bound`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2)
        let barrier = try place.taken(epoch: 0, from: 0, by: 1)
        let store = try place.store(1)
        _ = try store.open()
        let rows = batch(after: barrier.position, count: UnreadRows.most + 1, epoch: 1)
        #expect(store.append(rows, epoch: 1) == .durable)
        func count(_ followed: Int64) throws -> Int? {
            try place.beat(2, memory: .through(followed)).nodes[1].unread?.count
        }
        #expect(try count(barrier.position) == UnreadRows.most)
        #expect(try count(rows[1].last) == UnreadRows.most - 1)
    }

    @Test(arguments: Kind.allCases)
    func `who takes the log raises its format, and never lowers it`(kind: Kind) throws {
        let format = Int(BatchHeader.format)
        for (before, after) in [(format - 1, format), (format + 1, format + 1)] {
            let place = try Place(kind, format: before)
            try place.join(1, 2)
            #expect(try place.take(epoch: 7, from: 0, by: 1) == .refused)
            #expect(try place.beat(2).format == before)
            _ = try place.taken(epoch: 0, from: 0, by: 1)
            #expect(try place.beat(2).format == after)
        }
    }

    @Test(arguments: Kind.allCases)
    func `ended sessions are forgotten once they own nothing and are old`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2, 3)
        for session in Int64(1)...3 { _ = try place.beat(session, promised: session * 100) }
        _ = try place.taken(epoch: 0, from: 0, by: 1)
        // Only a database has an entry for session 0, which owned the log first.
        _ = try place.directory.forget(promisedBefore: 100)
        try place.directory.leave(1)
        try place.directory.leave(2)
        let before = try place.directory.forget(promisedBefore: 200)
        #expect(before == 0)
        #expect(try place.directory.forget(promisedBefore: 201) == 1)
        _ = try place.taken(epoch: 1, from: 1, by: 3)
        #expect(try place.directory.forget(promisedBefore: 1000) == 1)
        #expect(try place.beat(3).nodes.map(\.session) == [3])
    }
}
