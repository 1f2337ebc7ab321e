import TimerLog

/// A log in memory. The simulation decides at every append, and acts while one is under way.
final class SimulatedStore: LogStore, @unchecked Sendable {  // unchecked: a simulation has one thread
    private let disk = MemoryLogStore()
    /// Called before the rows land.
    var onAppend: ([LogRow]) -> AppendFate = { _ in AppendFate() }
    /// Called once the rows are on disk.
    var onLanding: ([LogRow]) -> Void = { _ in }
    /// Called when the committer opens the log again.
    var onReopen: () -> Void = {}
    /// Called before rows are deleted or replaced.
    var onChange: () -> ChangeFate = { ChangeFate() }
    private var isShut = false
    /// Whether the process that uses the log has ended, so that nothing it does has an effect.
    private(set) var isDead = false

    /// Ends the process.
    func kill() { isDead = true }

    /// Begins a new process, whose first open finds the log without anything happening meanwhile.
    func begin() { (isDead, isBeginning) = (false, true) }

    private var isBeginning = false

    /// Opens the log for the next process. The order of lists is keyed by a secret that is the same in every run.
    private func revive() throws(StoreError) -> StoreHead {
        isDead = false
        var head = try disk.open()
        head.secret = Self.secret
        return head
    }

    static let secret = [UInt8](repeating: 7, count: 16)

    func open() throws(StoreError) -> StoreHead {
        if isBeginning {
            isBeginning = false
            return try revive()
        }
        if isShut {
            isShut = false
            throw Self.failure
        }
        onReopen()
        try checkAlive()
        return try revive()
    }

    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        if isDead { return .unknown(Self.dead) }
        let fate = onAppend(rows)
        if fate.lands {
            let truth = disk.append(rows, expecting: expecting, epoch: epoch)
            guard truth == .durable else { return truth }
            onLanding(rows)
        }
        if fate.crashes { kill() }
        return fate.outcome ?? .durable
    }

    func delete(upTo position: Int64) throws(StoreError) -> Int {
        try change { () throws(StoreError) in try disk.delete(upTo: position) }
    }

    func replace(with rows: [LogRow]) throws(StoreError) {
        try change { () throws(StoreError) in try disk.replace(with: rows) }
    }

    private func change<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try checkAlive()
        let fate = onChange()
        if fate.crashes { kill() }
        isShut = fate.staysShut
        guard fate.lands else { throw Self.failure }
        let result = try body()
        if fate.fails || fate.crashes { throw Self.failure }
        return result
    }

    func makeReader() throws(StoreError) -> any LogReader {
        try checkAlive()
        return try disk.makeReader()
    }

    func bytesOnDisk() -> Int { disk.bytesOnDisk() }
    func close() { disk.close() }

    private func checkAlive() throws(StoreError) { if isDead { throw Self.dead } }

    private static let failure = StoreError(.io, "the simulated disk failed")
    private static let dead = StoreError(.io, "the process has ended")
}
