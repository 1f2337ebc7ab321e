import Platform
import TestSupport
import TimerLog

@testable import TimerService

/// An owner of partitions and a process that follows them, with a connection between them that a test moves bytes over.
final class FeedPair: @unchecked Sendable {  // unchecked: one thread
    let layout: PartitionLayout
    /// The owner's partitions.
    let parts: [FeedPartition]
    let remotes: RemotePartitions
    let feed: EventFeed
    let followers: Followers
    private(set) var server: FeedServer
    private(set) var link: FeedLink
    /// Bytes on their way, each way.
    private(set) var toServer: [UInt8] = []
    private(set) var toLink: [UInt8] = []
    private let calls: Guarded<(server: Int, link: Int)>

    /// What the owner owns, and whether its lease is valid.
    let standing: Guarded<(owned: Set<Int>, isValid: Bool)>
    /// Position of the follower's clock.
    let clock = Guarded<Int64>(0)

    /// - Parameter local: partitions of the follower's own, which it does not follow.
    init(_ count: Int, local: [FeedPartition] = []) throws {
        guard let layout = PartitionLayout(strided: count) else { throw FrameError.outOfRange }
        self.layout = layout
        let own = Dictionary(uniqueKeysWithValues: local.map { ($0.number, $0) })
        let parts = try (0..<count).map { try own[$0] ?? FeedPartition($0, layout) }
        self.parts = parts
        let standing = Guarded((owned: Set(parts.map(\.number)).subtracting(own.keys), isValid: true))
        self.standing = standing
        let remotes = RemotePartitions(layout, owned: Array(own.keys)) { number throws(StoreError) in
            try parts[number].store.makeReader()
        } clock: { [clock] in
            clock.withLock { $0 }
        }
        self.remotes = remotes
        let feed = EventFeed(layout, followsOthers: true) { remotes.completing { own[$0] } }
        self.feed = feed
        for source in own.values { feed.follow(source) }
        for remote in remotes.all { feed.follow(remote) }
        followers = Followers(layout, mayShow: { standing.withLock { $0.isValid } }) { number in
            standing.withLock { $0.owned.contains(number) } ? parts[number] : nil
        }
        for part in parts where own[part.number] == nil { followers.watch(part) }
        let calls = Guarded((server: 0, link: 0))
        self.calls = calls
        server = followers.open { calls.withLock { $0.server += 1 } }
        link = FeedLink(remotes) { calls.withLock { $0.link += 1 } }
        follow()
    }

    /// How often the transport was called at either end.
    var callCounts: (server: Int, link: Int) { calls.withLock { $0 } }

    /// Follows what the owner owns.
    func follow() { link.follow(standing.withLock { $0.owned }.sorted()) }

    /// Loses the connection with all that is under way, and begins another one.
    func reconnect() {
        followers.close(server)
        link.end()
        (toServer, toLink) = ([], [])
        server = followers.open { [calls] in calls.withLock { $0.server += 1 } }
        link = FeedLink(remotes) { [calls] in calls.withLock { $0.link += 1 } }
        follow()
    }

    /// Has each end give what it has, once.
    func gather() {
        while let message = link.next() { toServer += message }
        while let frame = server.next() { toLink += frame }
    }

    /// Moves what is under way, so many bytes at a time.
    func deliver(_ bytes: Int = .max) throws {
        while !toServer.isEmpty { try server.receive(Self.take(&toServer, bytes)) }
        while !toLink.isEmpty { try link.receive(Self.take(&toLink, bytes)) }
    }

    /// Moves so many pieces of what is under way to the follower, each of so many bytes.
    func deliver(_ bytes: Int, ofFrames count: Int) throws {
        for _ in 0..<count { try link.receive(Self.take(&toLink, bytes)) }
    }

    private static func take(_ bytes: inout [UInt8], _ count: Int) -> [UInt8] {
        defer { bytes.removeFirst(min(count, bytes.count)) }
        return Array(bytes.prefix(count))
    }

    /// Moves bytes until neither end has anything to say.
    func settle(_ bytes: Int = .max) throws {
        while true {
            gather()
            if toServer.isEmpty && toLink.isEmpty { return }
            try deliver(bytes)
        }
    }

    /// The frames on their way, decoded.
    func frames() throws -> [FeedFrame] {
        var buffer = FrameBuffer(limit: FeedFrame.maximumBytes)
        buffer.add(toLink)
        var frames: [FeedFrame] = []
        while let message = try buffer.next() { frames.append(try FeedFrame(message, layout)) }
        return frames
    }

    /// Positions of the slices that the follower's feed shows behind `position`, and how far it shows everything.
    func read(after position: Int64) throws -> (lasts: [Int64], end: EventFeed.Next) {
        var lasts: [Int64] = []
        // What is shown asks for promises: the answers come, then more is shown.
        for _ in 0..<4 {
            lasts = []
            var reading = feed.reading(after: position)
            var next = reading.next()
            while case .slice(let slice) = next {
                lasts.append(slice.last)
                next = reading.next()
            }
            gather()
            if toServer.isEmpty && toLink.isEmpty { return (lasts, next) }
            try settle()
        }
        var reading = feed.reading(after: lasts.last ?? position)
        return (lasts, reading.next())
    }

    /// What the stores show of what memory does not have.
    func replay(after position: Int64) throws -> StoredSlices {
        let sources = feed.sources
        var replay = try MergedReplay(
            sources, layout, after: position, end: feed.head(of: sources), ReplayReaders(feed))
        return try replay.read()
    }
}
