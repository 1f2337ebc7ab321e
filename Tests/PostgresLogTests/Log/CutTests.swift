import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// Connections and servers that end while an append is under way: nothing that was called durable is lost, and
/// nothing is there twice.
struct CutTests {
    /// A writer of batches that keeps their outcomes.
    private final class Writer {
        let store: PostgresLogStore
        private(set) var durable: [Int64] = []
        private(set) var unknown = 0
        private var last: Int64 = 0
        private var epoch: Int64 = 0

        init(_ store: PostgresLogStore) { self.store = store }

        /// Appends one batch, however many attempts that takes.
        func append(_ bytes: Int = 60, beforeFirst: () -> Void = {}) throws {
            var rows = batch(after: last, width: 1, bytes: bytes, epoch: epoch)
            var outcome = AppendOutcome.durable
            beforeFirst()
            try eventually("a batch is durable") {
                rows[0].previous = last
                rows[0].epoch = epoch
                outcome = store.append(rows, epoch: epoch)
                switch outcome {
                case .durable: return true
                case .absent: return false
                case .unknown:
                    unknown += 1
                    return try settle(rows)
                default:
                    Issue.record("\(outcome)")
                    return true
                }
            }
            durable.append(rows[0].first)
            last = max(last, rows[0].last)
        }

        /// Settles an append. Returns whether its rows are there.
        private func settle(_ rows: [LogRow]) throws -> Bool {
            var landed = false
            try eventually("the append is settled") {
                switch store.settle(rows, expecting: last, epoch: epoch) {
                case .landed(let head):
                    (landed, last, epoch) = (true, head.last, head.epoch)
                case .absent(let head):
                    (last, epoch) = (head.last, head.epoch)
                case .unknown: return false
                case .diverged(let error):
                    Issue.record("\(error)")
                case .fenced:
                    Issue.record("fenced")
                }
                return true
            }
            return landed
        }
    }

    /// Checks that the log holds what was durable, each once, in one chain.
    private func check(_ writer: Writer) throws {
        var verifier = ChainVerifier()
        var found: [Int64] = []
        for row in try rows(of: writer.store.makeFollower()) {
            try verifier.check(row)
            if BatchHeader.kind(of: row) != .barrier { found.append(row.first) }
        }
        #expect(found == writer.durable)
    }

    @Test(arguments: [CuttingProxy.Direction.toServer, .toClient])
    func `an append that is cut at any byte is settled`(_ direction: CuttingProxy.Direction) throws {
        let cluster = try Cluster()
        let proxy = try CuttingProxy(to: cluster.server)
        defer { proxy.stop() }
        let via = try PostgresAddress(cluster.text.replacing(cluster.server.folder, with: proxy.folder))
        let writer = Writer(try cluster.store(7, via: via))
        try writer.append()
        proxy.reset()
        try writer.append()
        let total = proxy.passed(direction)
        #expect(total > 20)
        for count in 1...total {
            // The statement is prepared by the append before.
            try writer.append()
            try writer.append { proxy.plan(direction, after: count) }
            #expect(proxy.hasCut)
        }
        // With the last byte to the client the answer is whole.
        #expect(writer.unknown >= total - 1)
        try check(writer)
    }

    @Test func `a server that crashes under appends loses nothing that was durable`() throws {
        let cluster = try ownCluster(isSynced: true)
        let writer = Writer(try cluster.store())
        let (isDone, appended) = (Guarded(false), Guarded(0))
        let server = cluster.server
        let restarts = Background {
            for end in [PostgresServer.End.immediate, .immediate, .fast, .immediate] {
                do {
                    let before = appended.value
                    try eventually("a batch since the last restart") { appended.value > before }
                    try server.restart(end)
                } catch {
                    Issue.record("\(error)")
                }
            }
            isDone.withLock { $0 = true }
        }
        while !isDone.value {
            try writer.append()
            appended.withLock { $0 += 1 }
        }
        try restarts.finish("the restarts")
        try writer.append()
        #expect(writer.durable.count > 4)
        try check(writer)
    }

    @Test func `an idle connection that was lost costs no append`() throws {
        let cluster = try ownCluster()
        let writer = Writer(try cluster.store())
        try writer.append()
        try cluster.server.restart()
        try writer.append()
        #expect(writer.unknown == 0)
        try check(writer)
    }

    @Test func `a server that stands still is given up in time`() throws {
        let cluster = try ownCluster()
        let store = try cluster.store(7, .hasty)
        let first = batch()
        #expect(store.append(first) == .durable)
        let rows = batch(after: first[0].last)
        try cluster.server.pause(true)
        guard case .unknown(let error) = store.append(rows) else {
            Issue.record("an append to a server that stands still")
            return
        }
        #expect(error.kind == .unavailable)
        guard case .unknown = store.settle(rows) else {
            Issue.record("settled by a server that stands still")
            return
        }
        try cluster.server.pause(false)
        var settlement = store.settle(rows)
        try eventually("it is settled") {
            if case .unknown = settlement { settlement = store.settle(rows) }
            if case .unknown = settlement { return false }
            return true
        }
        let landed = try store.makeFollower().row(holding: rows[0].first) != nil
        switch settlement {
        case .landed: #expect(landed)
        case .absent: #expect(!landed)
        default: Issue.record("\(settlement)")
        }
    }
}
