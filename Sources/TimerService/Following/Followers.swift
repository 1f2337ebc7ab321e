import Platform
import TimerLog

/// The processes that follow this one's partitions: each has a server of its own, which hears of what is new.
public final class Followers: Sendable {
    private let layout: PartitionLayout
    private let find: @Sendable (Int) -> (any EventSource)?
    private let mayShow: @Sendable () -> Bool
    private let servers = Guarded<[FeedServer]>([])

    /// - Parameter lease: until when this process may show what it has; nil: always.
    convenience init(_ partitions: Published<PartitionMap>, lease: Lease?) {
        self.init(partitions.value.layout, mayShow: { lease?.isValid ?? true }) { number in
            guard let partition = partitions.value[number], !partition.hasEnded else { return nil }
            return partition
        }
    }

    /// - Parameter find: the partition with this number, where this process owns it.
    init(
        _ layout: PartitionLayout, mayShow: @escaping @Sendable () -> Bool,
        _ find: @escaping @Sendable (Int) -> (any EventSource)?
    ) {
        self.layout = layout
        self.mayShow = mayShow
        self.find = find
    }

    /// Begins to serve a process that has connected.
    ///
    /// - Parameter onReady: called by any thread when the server's `next` may have something to send; it does not call the
    ///   server itself.
    public func open(onReady: @escaping @Sendable () -> Void) -> FeedServer {
        let server = FeedServer(layout, find: find, mayShow: mayShow, onReady: onReady)
        servers.withLock { $0.append(server) }
        return server
    }

    /// Ends what `open` began: the connection is closed.
    public func close(_ server: FeedServer) { servers.withLock { $0.removeAll { $0 === server } } }

    /// Tells of what is new in a partition that has come to this process.
    func watch(_ source: any EventSource) {
        let number = source.number
        source.hub.observe { [weak self] in self?.look(at: number) }
    }

    /// Notes that there may be something to tell of a partition: it has come or gone, or has something new.
    func look(at number: Int) { for server in servers.withLock({ $0 }) { server.look(at: number) } }
}
