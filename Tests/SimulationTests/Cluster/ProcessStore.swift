import TimerLog

/// The shared log as one process sees it: every append and settlement is an event of the history. The order of lists is
/// keyed by a secret that is the same in every run.
final class ProcessStore: LogStore, @unchecked Sendable {  // unchecked: a simulation has one thread
    /// Rows that a session appends.
    struct Append {
        var rows: [LogRow]
        var expecting: Int64
        var epoch: Int64
        var session: Int64
    }

    private let shared: MemoryLogStore
    private var view: MemoryLogStore
    private var session: Int64 = 0
    /// The outcome of an append, and that of a settlement. Set before the process does anything.
    var onAppend: (Append) -> AppendOutcome = { _ in .fenced }
    var onSettle: (Append) -> Settlement = { _ in .fenced }

    init(_ shared: MemoryLogStore) {
        self.shared = shared
        view = shared
    }

    var isShared: Bool { true }
    var secret: [UInt8]? { SimulatedStore.secret }

    /// Makes the next `open` one of `session`.
    func begin(session: Int64) {
        if session == self.session { return }
        self.session = session
        view = shared.seen(by: session)
    }

    func open() throws(StoreError) -> StoreHead {
        var head = try view.open()
        head.secret = SimulatedStore.secret
        return head
    }

    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        onAppend(Append(rows: rows, expecting: expecting, epoch: epoch, session: session))
    }

    func settle(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> Settlement {
        onSettle(Append(rows: rows, expecting: expecting, epoch: epoch, session: session))
    }

    func delete(upTo position: Int64) throws(StoreError) -> Int { try view.delete(upTo: position) }
    func replace(with rows: [LogRow]) throws(StoreError) { try view.replace(with: rows) }
    func makeFollower() throws(StoreError) -> any LogReader { shared.makeFollower() }
    func makeReader() throws(StoreError) -> any LogReader { try view.makeReader() }
    func bytesOnDisk() -> Int { view.bytesOnDisk() }
    func close() { view.close() }
}
