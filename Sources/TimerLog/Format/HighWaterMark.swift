/// The greatest position and version that were given, or may have been given, beyond what the log holds.
///
/// A mark is written ahead where changes are shown before they are on disk: only changes at or below a mark on disk
/// are shown early.
public struct HighWaterMark: Sendable, Equatable {
    /// The greatest position.
    public var position: Int64
    /// The greatest version of any timer.
    public var version: Int64

    /// Makes a mark; see the members.
    public init(position: Int64 = 0, version: Int64 = 0) {
        self.position = position
        self.version = version
    }
}
