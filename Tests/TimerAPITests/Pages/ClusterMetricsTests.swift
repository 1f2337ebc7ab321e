import TestSupport
import Testing
import TimerAPI
import TimerLog
import TimerService

/// The metrics of a server that shares its storage with others.
struct ClusterMetricsTests {
    private static let owner = ClusterNode(session: 5, url: "http://a:1", reads: 1, memory: .through(9))

    /// A server of session 7, beside the owner and `others`.
    private static func server(
        _ standby: StandbyKind = .warm, memory: LogMemory = .through(9), unread: UnreadRows? = nil,
        others: [ClusterNode] = []
    ) throws -> WholeServer {
        let own = ClusterNode(session: 7, url: "http://b:1", reads: 1, memory: memory, unread: unread)
        let map = ClusterMap(
            session: 7, url: own.url, nodes: [owner, own] + others, owner: LogOwner(epoch: 1, session: owner.session))
        return try WholeServer(place: TestPlace(map), standby: standby)
    }

    /// The values of the metrics without labels.
    private static func metrics(_ server: WholeServer) throws -> [String: String] {
        let lines = String(decoding: try server.ask("GET", "/metrics").body, as: UTF8.self).split(separator: "\n")
        let pairs = lines.map { $0.split(separator: " ") }.filter { $0.count == 2 }.map { ("\($0[0])", "\($0[1])") }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test func `a standby shows the rows and bytes that it lacks`() throws {
        let server = try Self.server(unread: UnreadRows(count: 3, bytes: 900))
        let metrics = try Self.metrics(server)
        #expect(metrics["timerd_standby_lag_rows"] == "3" && metrics["timerd_standby_lag_bytes"] == "900")
        #expect(metrics["timerd_standby_lag_seconds"] == "0")
    }

    @Test func `a standby whose rows are not counted shows no figure for them`() throws {
        let metrics = try Self.metrics(try Self.server(memory: .warming))
        #expect(metrics["timerd_standby_lag_rows"] == nil && metrics["timerd_standby_lag_bytes"] == nil)
        #expect(metrics["timerd_standby_lag_seconds"] == "0")
    }

    @Test func `a standby is warm once it has read the log`() throws {
        let server = try Self.server()
        #expect(try Self.metrics(server)["timerd_standby_warm"] == "0")
        server.service.read(through: 0)
        try eventually("the standby is warm") { try Self.metrics(server)["timerd_standby_warm"] == "1" }
    }

    @Test func `a cold standby shows no figure of one that reads`() throws {
        let metrics = try Self.metrics(try Self.server(.cold, unread: UnreadRows(count: 3, bytes: 900)))
        #expect(metrics["timerd_owner"] == "0")
        #expect(!metrics.keys.contains { $0.hasPrefix("timerd_standby_") }, "\(metrics)")
    }

    @Test func `fit standbys are those that hold the timers and stay`() throws {
        let others = [
            ClusterNode(session: 8, url: "http://c:1", reads: 1, isLeaving: true, memory: .through(9)),
            ClusterNode(session: 9, url: "http://d:1", reads: 1),
        ]
        #expect(try Self.metrics(try Self.server(others: others))["timerd_standbys_fit"] == "1")
        #expect(try Self.metrics(try Self.server(memory: .warming, others: others))["timerd_standbys_fit"] == "0")
    }
}
