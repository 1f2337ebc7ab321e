import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// What every directory does: the one in memory, which the simulation runs on, and PostgreSQL.
struct DirectoryTests {
    enum Kind: CaseIterable {
        case memory, postgres
    }

    /// A directory with its logs.
    private struct Place {
        let directory: any ClusterDirectory
        let volume: (Int64) throws -> any LogVolume

        init(_ kind: Kind) throws {
            switch kind {
            case .memory:
                let layout = try #require(PartitionLayout(strided: 4))
                let memory = MemoryLogVolume(layout)
                directory = MemoryDirectory(memory)
                volume = { memory.seen(by: $0) }
            case .postgres:
                let cluster = try Cluster()
                directory = PostgresDirectory(cluster.address)
                volume = { try PostgresLogVolume(cluster.address, session: $0) }
            }
        }

        func join(_ sessions: Int64...) throws {
            for session in sessions {
                try directory.join(
                    ClusterNode(session: session, url: "http://\(session)", reads: Int(BatchHeader.format)))
            }
        }

        func beat(_ session: Int64, promised: Int64 = 0, skew: Int64? = nil, isLeaving: Bool = false) throws
            -> ClusterView
        {
            try directory.beat(NodeBeat(session: session, promised: promised, skew: skew, isLeaving: isLeaving))
        }

        func take(_ partition: Int, epoch: Int64, from: Int64, by session: Int64, clock: Int64 = 1 << 40) throws
            -> TakeOutcome
        {
            try directory.take(
                TakeOrder(partition: partition, epoch: epoch, from: from, session: session, clock: clock))
        }

        /// Takes, and returns the barrier.
        func taken(_ partition: Int, epoch: Int64, from: Int64, by session: Int64, clock: Int64 = 1 << 40) throws
            -> Barrier
        {
            let outcome = try take(partition, epoch: epoch, from: from, by: session, clock: clock)
            guard case .taken(let barrier) = outcome else { throw TimedOut(description: "taken, not \(outcome)") }
            return barrier
        }

        func owner(of partition: Int) throws -> PartitionOwner { try directory.owners()[partition] }
    }

    @Test(arguments: Kind.allCases)
    func `a new cluster belongs to nobody`(kind: Kind) throws {
        let place = try Place(kind)
        #expect(
            try place.directory.owners() == (0..<4).map { PartitionOwner(partition: $0, epoch: 0, session: 0) })
        try place.join(1)
        let view = try place.beat(1)
        #expect(view.isLive && view.epochs == 0 && view.format == Int(BatchHeader.format))
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
        _ = try place.taken(3, epoch: 0, from: 0, by: 1, clock: 1 << 40)
        _ = try place.beat(1, promised: 7 << 40)
        try place.directory.leave(1, promised: 5 << 40)
        // It has left: nothing it says counts any more.
        try place.directory.leave(1, promised: 2 << 40)
        let second = try place.taken(3, epoch: 1, from: 1, by: 2, clock: 1 << 40)
        #expect(second.position == (5 << 40) + 1024 + 3)
        _ = try place.beat(2, promised: 6 << 40)
        // Never more than its beats allowed.
        try place.directory.leave(2, promised: 9 << 40)
        let third = try place.taken(3, epoch: 2, from: 2, by: 3, clock: 1 << 40)
        #expect(third.position == (6 << 40) + 1024 + 3)
    }

    @Test(arguments: Kind.allCases)
    func `a take begins an epoch behind the log, the clock and what the old owner promised`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2, 3)
        let first = try place.taken(3, epoch: 0, from: 0, by: 1, clock: 5 << 40)
        #expect(first.epoch == 1 && first.previous == 0)
        #expect(first.position == (5 << 40) + 1024 + 3)
        _ = try place.beat(1, promised: 7 << 40)
        _ = try place.beat(1, promised: 6 << 40)
        try place.directory.leave(1)
        let second = try place.taken(3, epoch: 1, from: 1, by: 2, clock: 5 << 40)
        #expect(second == Barrier(epoch: 2, previous: first.position, position: (7 << 40) + 1024 + 3))
        try place.directory.leave(2)
        let third = try place.taken(3, epoch: 2, from: 2, by: 3, clock: 1)
        #expect(third == Barrier(epoch: 3, previous: second.position, position: second.position + 1024))
        #expect(try place.owner(of: 3) == PartitionOwner(partition: 3, epoch: 3, session: 3))
        #expect(try place.beat(3).epochs == 3)
        let volume = try place.volume(3)
        #expect(try volume.store(3).open().last == third.position)
        let found = try rows(of: volume.store(3))
        #expect(found.map(\.epoch) == [1, 2, 3] && found.map(\.first) == [first, second, third].map(\.position))
        #expect(found.allSatisfy { BatchHeader.kind(of: $0) == .barrier })
    }

    @Test(arguments: Kind.allCases)
    func `nothing is taken from the living, at another epoch, or by the ended`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2)
        _ = try place.taken(0, epoch: 0, from: 0, by: 1)
        #expect(try place.take(0, epoch: 1, from: 1, by: 2) == .refused)
        #expect(try place.take(0, epoch: 0, from: 0, by: 2) == .refused)
        #expect(try place.take(1, epoch: 0, from: 0, by: 9) == .refused)
        try place.directory.leave(1)
        #expect(try place.take(1, epoch: 0, from: 0, by: 1) == .refused)
        #expect(try place.owner(of: 0) == PartitionOwner(partition: 0, epoch: 1, session: 1))
        _ = try place.taken(0, epoch: 1, from: 1, by: 2)
    }

    @Test(arguments: Kind.allCases)
    func `a session takes its own partition again without minding its own promise`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1)
        let first = try place.taken(0, epoch: 0, from: 0, by: 1)
        _ = try place.beat(1, promised: 7 << 40)
        let again = try place.taken(0, epoch: 1, from: 1, by: 1)
        #expect(again == Barrier(epoch: 2, previous: first.position, position: first.position + 1024))
    }

    @Test(arguments: Kind.allCases)
    func `an owner gives to a live session, behind what it has promised for the partition`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2, 3)
        try place.directory.leave(3)
        let first = try place.taken(2, epoch: 0, from: 0, by: 1)
        func give(_ epoch: Int64, from: Int64, to: Int64) throws -> TakeOutcome {
            try place.directory.give(
                TakeOrder(partition: 2, epoch: epoch, from: from, session: to, clock: 3 << 40))
        }
        #expect(try give(1, from: 1, to: 3) == .refused)
        #expect(try give(1, from: 2, to: 2) == .refused)
        #expect(try give(0, from: 1, to: 2) == .refused)
        let barrier = Barrier(epoch: 2, previous: first.position, position: (3 << 40) + 1024 + 2)
        #expect(try give(1, from: 1, to: 2) == .taken(barrier))
        #expect(try place.owner(of: 2).session == 2)
    }

    @Test(arguments: Kind.allCases)
    func `the old owner's appends are refused after a take`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2)
        _ = try place.taken(0, epoch: 0, from: 0, by: 1)
        let old = try place.volume(1)
        let head = try old.store(0).open()
        let chain = stridedChain(after: head.last, count: 1, epoch: 1)
        #expect(old.append([0: chain], epoch: 1) == [.durable])
        try place.directory.leave(1)
        let barrier = try place.taken(0, epoch: 1, from: 1, by: 2)
        #expect(barrier.previous == chain[0].last)
        let late = stridedChain(after: chain[0].last, count: 1, epoch: 1)
        #expect(old.append([0: late], epoch: 1) == [.fenced])
        #expect(throws: StoreError.self) { try old.store(0).open() }
        let new = try place.volume(2)
        #expect(try new.store(0).open().last == barrier.position)
        #expect(new.append([0: stridedChain(after: barrier.position, count: 1, epoch: 2)], epoch: 2) == [.durable])
    }

    @Test(arguments: Kind.allCases)
    func `the format that may be written never falls`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1)
        try place.directory.announce(format: 11)
        try place.directory.announce(format: 9)
        #expect(try place.beat(1).format == 11)
    }

    @Test(arguments: Kind.allCases)
    func `ended sessions are forgotten once they own nothing and are old`(kind: Kind) throws {
        let place = try Place(kind)
        try place.join(1, 2, 3)
        for session in Int64(1)...3 { _ = try place.beat(session, promised: session * 100) }
        _ = try place.taken(0, epoch: 0, from: 0, by: 1)
        try place.directory.leave(1)
        try place.directory.leave(2)
        let before = try place.directory.forget(promisedBefore: 200)
        #expect(before == 0)
        #expect(try place.directory.forget(promisedBefore: 201) == 1)
        _ = try place.taken(0, epoch: 1, from: 1, by: 3)
        #expect(try place.directory.forget(promisedBefore: 1000) == 1)
        #expect(try place.beat(3).nodes.map(\.session) == [3])
    }
}
