/// The progress of an export's import. Its record is in the batch of the changes that it counts.
public struct ImportProgress: Sendable, Equatable {
    /// The export's id.
    public var export: Hash128
    /// The newest part that was begun.
    public var part: Int
    /// Hash of that part.
    public var fingerprint: Hash128
    /// Lines of the part that are done.
    public var lines = 0
    /// Whether the part is done here.
    public var isWhole = false
    /// Whether the part ends the export.
    public var isLast = false
    /// Whether the server that made the export was not drained then, and goes on with its timers.
    public var isCopy = false
    /// Lines of all earlier parts.
    public var linesBefore = 0
    /// Position of the import's first record; 0 for the position of this one. Timers whose newest definition is
    /// after it came with the import.
    public var begin: Int64 = 0
    /// Wall milliseconds at which the progress was recorded.
    public var at: Int64

    /// The bound below which the numbers of parts, and of lines of a part, stay.
    public static let mostParts = 1 << 31

    /// Makes the progress of an import that has done nothing of its part yet; see the members.
    public init(export: Hash128, part: Int, fingerprint: Hash128, at: Int64) {
        self.export = export
        self.part = part
        self.fingerprint = fingerprint
        self.at = at
    }
}
