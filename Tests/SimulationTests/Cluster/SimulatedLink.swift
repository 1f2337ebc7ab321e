@testable import TimerService

/// A connection by which one process follows partitions of another one. Bytes keep their order; each end learns for itself
/// that the connection is lost.
final class SimulatedLink: @unchecked Sendable {  // unchecked: a simulation has one thread
    let follower: ClusterProcess
    let owner: ClusterProcess
    var link: FeedLink?
    var server: FeedServer?
    /// What is under way, each way.
    var asks: [[UInt8]] = []
    var frames: [[UInt8]] = []
    /// Whether a thread of an end is inside a call.
    var isLinkBusy = false
    var isServerBusy = false
    /// Whether another connection has taken its place, and it still delivers.
    var isReplaced = false

    init(_ follower: ClusterProcess, _ owner: ClusterProcess) {
        self.follower = follower
        self.owner = owner
    }

    /// The follower learns that the connection is lost.
    func endLink() {
        link?.end()
        link = nil
        frames = []
    }

    /// The owner learns it.
    func endServer() {
        if let server { owner.followers.close(server) }
        server = nil
        asks = []
    }
}
