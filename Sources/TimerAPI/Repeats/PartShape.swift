/// What the bytes of a part say.
enum PartShape: UInt8 {
    /// The results of some lines of a batch: see `BatchResult`.
    case lines = 0
    /// How far a run came and what it counted: see `BulkProgress`.
    case counts = 1

    /// The shape of `part`.
    init?(of part: [UInt8]) {
        guard let first = part.first else { return nil }
        self.init(rawValue: first)
    }
}
