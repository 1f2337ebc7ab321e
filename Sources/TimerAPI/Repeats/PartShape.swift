/// The kind of a part of a stored answer, given by its first byte.
enum PartShape: UInt8 {
    /// The results of some lines of a batch: see `BatchResult`.
    case lines = 0
    /// The progress of a run, and its counts: see `BulkProgress`.
    case counts = 1

    /// Reads the shape of `part`; nil if there is no such shape.
    init?(of part: [UInt8]) {
        guard let first = part.first else { return nil }
        self.init(rawValue: first)
    }
}
