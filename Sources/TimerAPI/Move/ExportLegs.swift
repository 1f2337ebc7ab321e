/// The requests to the owners of partitions that an export consists of, one after the other: a state machine without input and
/// output.
///
/// How the partitions stand was looked up before. Each owner is asked for its timers; where they are not drained, once more for
/// those that have changed meanwhile; in the end how its partitions stand now. Unless they stand as before, the export is no
/// whole, whatever has come: a partition that has another owner may have been undrained in between.
struct ExportLegs {
    /// A request to one owner.
    struct Leg: Equatable {
        let owner: Scatter.Owner
        let scope: PartitionScope
        /// What it is asked for; nil: how its partitions stand.
        let portion: ExportPortion?
    }

    /// How the partitions stood at the beginning.
    let standing: ExportStanding
    /// Lines that came; the export's first and last one are not among them.
    private(set) var lines = 0
    private var left: ArraySlice<Leg>
    private var later: ExportStanding?
    /// Whether what has come ends with a whole line.
    private var isAtLineEnd = true

    /// - Parameter parts: who owns what; each partition is in one of them.
    init(_ parts: [(owner: Scatter.Owner, scope: PartitionScope)], _ standing: ExportStanding) {
        self.standing = standing
        let portions: [ExportPortion?] =
            standing.isDrained ? [.timers, nil] : [.timers, .changes(since: standing.mark), nil]
        left =
            portions.flatMap { portion in
                parts.map { Leg(owner: $0.owner, scope: $0.scope, portion: portion) }
            }[...]
    }

    /// Takes the request that is next; nil behind the last.
    mutating func next() -> Leg? { left.popFirst() }

    /// Lines have come, in pieces of any size.
    mutating func came(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") { lines += 1 }
        isAtLineEnd = bytes[bytes.count - 1] == UInt8(ascii: "\n")
    }

    /// The answer to a request for lines is complete. Returns whether it ends with a whole line.
    func endedWhole() -> Bool { isAtLineEnd }

    /// An owner has told how its partitions stand now.
    mutating func stand(_ standing: ExportStanding) {
        if later?.join(standing) == nil { later = standing }
    }

    /// Whether every request was taken, and nothing has happened that makes the export no whole.
    var isWhole: Bool { left.isEmpty && isAtLineEnd && later.map { standing.lasts(until: $0) } ?? false }
}
