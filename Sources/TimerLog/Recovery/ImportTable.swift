/// The progress of imports: the newest record of each export, for a bounded number of exports.
public struct ImportTable: Sendable {
    private var known: [Hash128: ImportProgress] = [:]

    /// The most exports that are remembered; beyond them the one whose newest record is oldest is forgotten.
    public static let most = 256

    /// Makes an empty table.
    public init() {}

    /// Returns the progress of the import of `export`; nil where none is known.
    public func progress(of export: Hash128) -> ImportProgress? { known[export] }

    /// The progress of every export that is remembered, oldest first.
    public var all: [ImportProgress] { known.values.sorted { $0.at < $1.at } }

    /// Remembers `progress` in place of what was known of its export.
    public mutating func note(_ progress: ImportProgress) {
        known[progress.export] = progress
        guard known.count > Self.most, let oldest = known.values.min(by: { $0.at < $1.at }) else { return }
        known[oldest.export] = nil
    }
}
