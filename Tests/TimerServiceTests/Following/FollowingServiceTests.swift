import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerService

/// Two services that own partitions of one volume and follow each other's.
private final class FollowingServices: @unchecked Sendable {  // unchecked: one thread
    let volume: MemoryLogVolume
    let time = ManualTime()
    let services: [TimerService]
    private var links: [FeedLink] = []
    private var servers: [FeedServer] = []
    /// What a stream at the first service was shown, and how far it has come.
    private(set) var shown: [Int64] = []
    private var cursor: Int64 = 0

    init() throws {
        let volume = MemoryLogVolume(try #require(PartitionLayout(strided: 4)))
        self.volume = volume
        for number in 0..<4 {
            _ = volume.beginEpoch(of: number, session: number < 2 ? 1 : 2, behind: 0)
        }
        services = try [1, 2].map { [time] session in
            try TimerService(
                volume: volume.seen(by: session), owning: session == 1 ? [0, 1] : [2, 3], followsOthers: true,
                configuration: EngineConfiguration(), alarm: ManualAlarm(time), timeSource: time, report: { _ in })
        }
        for service in services { service.start() }
        for (index, service) in services.enumerated() {
            let remotes = try #require(service.remotes)
            links.append(FeedLink(remotes) {})
            servers.append(services[1 - index].followers.open {})
        }
        follow()
    }

    /// Has each follow what the other owns.
    func follow() {
        for index in 0..<2 { links[index].follow(services[1 - index].partitions.value.all.map(\.number)) }
    }

    /// Begins to create a timer in a partition. Returns the position of its event.
    func create(_ stem: String, in number: Int) throws -> Int64 {
        let service = try #require(services.first { $0.partitions.value[number] != nil })
        let partition = try #require(service.partitions.value[number])
        return try partition.create(service.partitions.value.id(stem, in: number))
    }

    /// Moves a partition that one service has dropped to the other one.
    func move(_ number: Int, to index: Int) throws {
        let promised = services[1 - index].promisedAtMost ?? 0
        services[1 - index].drop([number])
        _ = volume.beginEpoch(of: number, session: Int64(index) + 1, behind: promised)
        // The log goes on ahead of the clock by what might have been promised.
        time.pass(milliseconds: 2000)
        try services[index].adopt(number)
        follow()
    }

    /// Moves what the connections have, and lets the stream read on. Returns whether it was shown `position`.
    func hasShown(_ position: Int64) throws -> Bool {
        for _ in 0..<3 {
            for (link, server) in zip(links, servers) {
                while let asks = link.next() { try server.receive(asks) }
                server.lookAgain()
                while let frame = server.next() { try link.receive(frame) }
            }
        }
        let feed = services[0].feed
        var reading = feed.reading(after: cursor)
        gathering: while true {
            switch reading.next() {
            case .slice(let slice): show(slice)
            case .none(let newest):
                cursor = max(cursor, newest)
                break gathering
            case .gone:
                var replay = try MergedReplay(
                    feed.sources, volume.layout, after: cursor, end: feed.head, ReplayReaders(feed), volume)
                let found = try replay.read()
                for slice in found.slices { show(slice) }
                cursor = max(cursor, found.through)
                break gathering
            }
        }
        return shown.contains(position)
    }

    private func show(_ slice: RowSlice) {
        for position in stride(from: slice.first, through: slice.last, by: 1024) where position > cursor {
            shown.append(position)
        }
        cursor = max(cursor, slice.last)
    }

    func stop() { for service in services { service.stop() } }
}

struct FollowingServiceTests {
    @Test func `a stream goes on while its partitions move between two services, both ways`() throws {
        let both = try FollowingServices()
        var created: [Int64] = []
        func create(_ stem: String, in number: Int) throws {
            let position = try both.create(stem, in: number)
            try eventually("\(stem) is shown") { try both.hasShown(position) }
            created.append(position)
        }
        for number in 0..<4 { try create("first", in: number) }
        try both.move(1, to: 1)
        for number in 0..<4 { try create("second", in: number) }
        try both.move(2, to: 0)
        try both.move(1, to: 0)
        for number in 0..<4 { try create("third", in: number) }
        #expect(both.services.map { $0.partitions.value.all.map(\.number) } == [[0, 1, 2], [3]])
        #expect(both.shown.filter(created.contains) == created)
        #expect(both.shown == both.shown.sorted() && Set(both.shown).count == both.shown.count)
        both.stop()
    }
}
