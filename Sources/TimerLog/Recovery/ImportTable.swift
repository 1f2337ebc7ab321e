/// How far imports have come: the newest record of each export, of a bounded number of exports.
public struct ImportTable: Sendable {
    private var known: [Hash128: ImportProgress] = [:]

    /// Most exports that are remembered; the one that had nothing recorded for the longest time is forgotten.
    public static let most = 256

    /// Remembers nothing.
    public init() {}

    /// How far the import of `export` has come; nil where nothing is known of it.
    public func progress(of export: Hash128) -> ImportProgress? { known[export] }

    /// What is remembered.
    public var all: [ImportProgress] { known.values.sorted { $0.at < $1.at } }

    /// Remembers `progress` in place of what was known of its export.
    public mutating func note(_ progress: ImportProgress) {
        known[progress.export] = progress
        guard known.count > Self.most, let oldest = known.values.min(by: { $0.at < $1.at }) else { return }
        known[oldest.export] = nil
    }
}
