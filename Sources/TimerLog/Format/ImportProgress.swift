/// How far the import of an export has come. It is in the batch of the changes that it tells of.
public struct ImportProgress: Sendable, Equatable {
    /// The export's id.
    public var export: Hash128
    /// The newest part of it that was begun.
    public var part: Int
    /// Hash of that part.
    public var fingerprint: Hash128
    /// Lines of the part that are done.
    public var lines = 0
    /// Whether the part is done here.
    public var isWhole = false
    /// Whether the part ends the export.
    public var isLast = false
    /// Whether a server goes on that was not drained when it made the export.
    public var isCopy = false
    /// Lines of all parts before.
    public var linesBefore = 0
    /// Position of the import's first record; 0 for that of this one. Timers whose newest definition stands
    /// behind it came with the import.
    public var begin: Int64 = 0
    /// When it was recorded, wall milliseconds.
    public var at: Int64

    /// Parts, and lines of a part, are fewer.
    public static let mostParts = 1 << 31

    /// Makes one that has done nothing of its part yet; see the members.
    public init(export: Hash128, part: Int, fingerprint: Hash128, at: Int64) {
        self.export = export
        self.part = part
        self.fingerprint = fingerprint
        self.at = at
    }
}
