/// A span of time without a change of offset. The end may be only that of a table: what follows may have the same
/// offset.
struct ZoneSegment {
    /// The first instant; `Int64.min` for no beginning.
    var start: Int64
    /// The instant after the last; `Int64.max` for no end.
    var end: Int64
    var offset: Int64
    /// See ``TimeZoneTable/Transition/skipped``.
    var skipped: Int64

    /// The first local time of the segment that had not come before; `Int64.min` for a segment without a beginning.
    var firstNewLocal: Int64 {
        guard start > .min else { return .min }
        return start + offset + max(0, -skipped)
    }
}
