/// A time without a change of offset. Its end may be where only a table ends: what follows may have the same offset.
struct ZoneSegment {
    /// `Int64.min` when it has no beginning.
    var start: Int64
    /// The instant after its last; `Int64.max` when it has no end.
    var end: Int64
    var offset: Int64
    /// See ``TimeZoneTable/Transition/skipped``.
    var skipped: Int64

    /// The local time after the latest there was before, where that came again within; else the beginning.
    var firstNewLocal: Int64 {
        guard start > .min else { return .min }
        return start + offset + max(0, -skipped)
    }
}
