/// What a part of a stored answer holds: its first byte.
enum PartShape: UInt8 {
    /// The results of some lines of a batch: see `BatchResult`.
    case lines = 0
    /// How far a run has come, and its counts: see `BulkProgress`.
    case counts = 1

    /// The shape of `part`.
    init?(of part: [UInt8]) {
        guard let first = part.first else { return nil }
        self.init(rawValue: first)
    }
}
