import Platform
import TimerLog

@testable import TimerService

/// How a process sees partitions that are spread among processes; with a mistake, where one was asked for.
final class SpreadFeed: @unchecked Sendable {  // unchecked: a simulation has one thread
    private let bug: LinkBug
    weak var process: ClusterProcess?
    /// The rows of each partition as they were when a follower was told of it last.
    private var looks: [Int: EventHub] = [:]

    init(_ bug: LinkBug) { self.bug = bug }

    /// The feed of all partitions; `local` returns those that are owned.
    func feed(
        _ partitions: Published<PartitionMap>, _ remotes: RemotePartitions,
        _ local: @escaping @Sendable (Int) -> SteppedSource?
    ) -> EventFeed {
        let feed = EventFeed(partitions.value.layout, followsOthers: true) { [self] in
            let owned = partitions.value
            return remotes.completing { owned[$0] == nil ? nil : local($0) }.map(seen)
        }
        for remote in remotes.all { feed.follow(remote) }
        return feed
    }

    /// A partition as streams see it.
    private func seen(_ source: any EventSource) -> any EventSource {
        guard source.isRemote else { return source }
        let shown: any EventSource = bug == .takesForGranted ? GrantedSource(source) : source
        return SteppedSource(shown) { [self] in process?.onLook() }
    }

    /// A partition as followers are told of it.
    func told(_ source: any EventSource) -> any EventSource {
        guard bug == .promisesAfterLook else { return source }
        let now = EventHub(copying: source.hub)
        defer { looks[source.number] = now }
        return EarlySource(source, looks[source.number] ?? now)
    }

    /// Notes that a partition has left.
    func began(_ remote: RemotePartition, _ feed: EventFeed) throws(FrameError) {
        guard bug == .leavesAhead else { return }
        try remote.take(.rows(partition: remote.number, after: 0, through: max(remote.known, feed.newest), []))
    }
}

/// A partition whose promises are taken for granted.
private final class GrantedSource: EventSource {
    private let source: any EventSource
    init(_ source: any EventSource) { self.source = source }
    var number: Int { source.number }
    var hub: EventHub { source.hub }
    var isRemote: Bool { source.isRemote }
    var clockPosition: Int64 { source.clockPosition }
    var horizon: Int64 { source.horizon }
    var oldestAtStart: Int64 { source.oldestAtStart }
    func makeReader() throws(StoreError) -> any LogReader { try source.makeReader() }
    func promise(through position: Int64) -> Int64 { position }
}

/// A partition whose rows were looked at before its promise.
private final class EarlySource: EventSource, @unchecked Sendable {  // unchecked: a simulation has one thread
    private let source: any EventSource
    private let early: EventHub
    private var hasPromised = false
    init(_ source: any EventSource, _ early: EventHub) { (self.source, self.early) = (source, early) }
    var number: Int { source.number }
    var hub: EventHub { hasPromised ? early : source.hub }
    var isRemote: Bool { source.isRemote }
    var clockPosition: Int64 { source.clockPosition }
    var horizon: Int64 { source.horizon }
    var oldestAtStart: Int64 { source.oldestAtStart }
    func makeReader() throws(StoreError) -> any LogReader { try source.makeReader() }
    func promise(through position: Int64) -> Int64 {
        hasPromised = true
        return source.promise(through: position)
    }
}
