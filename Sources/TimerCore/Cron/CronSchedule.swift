/// A cron expression in a time zone, as a timer carries it.
///
/// A local time that a change of offset leaves out fires once, at the instant of the change; one that comes again
/// fires the first time. Schedules whose hour or minute field begins with `*`, or with a range that covers the
/// field, follow elapsed time instead: a local time that comes again fires again, and one that is left out does not
/// fire.
public struct CronSchedule: Sendable, Equatable {
    /// The expression as its client wrote it.
    public let text: [UInt8]
    /// The IANA name of the time zone.
    public let zone: [UInt8]
    /// Wall milliseconds before which nothing is due; nil for no such bound.
    public private(set) var from: Int64?

    let expression: CronExpression

    /// The seconds since 1970 that are searched: from the year 0 to the end of the year 9999.
    private static let seconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Reads an expression.
    ///
    /// - Parameters:
    ///   - text: five fields, six with seconds first, or a name such as `@daily`; at most 256 bytes.
    ///   - zone: an IANA name, which is not looked up here.
    ///   - from: wall milliseconds before which nothing is due.
    ///   - isStored: whether the expression was accepted before, by rules that may have been looser.
    public init(_ text: [UInt8], zone: [UInt8], from: Int64?, isStored: Bool = false) throws(CronError) {
        expression = try CronExpression(text, isStored: isStored)
        self.text = text
        self.zone = zone
        self.from = from
    }

    /// Returns the same expression with another earliest instant.
    func starting(from instant: Int64?) -> CronSchedule {
        var schedule = self
        schedule.from = instant
        return schedule
    }

    /// Whether both name the same instants, however each is spelled.
    public static func == (left: CronSchedule, right: CronSchedule) -> Bool {
        left.expression == right.expression && left.zone == right.zone && left.from == right.from
    }

    /// Returns the first instant after `instant`, in wall milliseconds; nil when none follows up to the year 9999.
    public func next(after instant: Int64, in zone: TimeZoneTable) -> Int64? {
        var second = firstSecond(after: instant)
        while second <= Self.seconds.upperBound {
            let segment = zone.segment(at: second)
            let stretch = stretch(of: segment, from: second, through: Self.seconds.upperBound)
            if stretch.firesAtStart { return second * 1000 }
            if let local = expression.first(in: stretch.local) { return (local - segment.offset) * 1000 }
            second = segment.end
        }
        return nil
    }

    /// Returns the last instant at or before `end` of those after `start`, in wall milliseconds, and how many there
    /// are; nil when there is none. The cost is that of the months and changes of offset in between, however often
    /// the schedule is due.
    public func latest(after start: Int64, through end: Int64, in zone: TimeZoneTable) -> (
        instant: Int64, count: Int64
    )? {
        var second = firstSecond(after: start)
        let lastSecond = min(floorDivide(end, 1000), Self.seconds.upperBound)
        var count: Int64 = 0
        var last: (stretch: Stretch, segment: ZoneSegment)?
        while second <= lastSecond {
            let segment = zone.segment(at: second)
            let stretch = stretch(of: segment, from: second, through: lastSecond)
            let found = expression.count(in: stretch.local) + (stretch.firesAtStart ? 1 : 0)
            if found > 0 { last = (stretch, segment) }
            count += found
            second = segment.end
        }
        guard let last else { return nil }
        let local = expression.last(in: last.stretch.local)
        // A stretch without a match of its own fires at its start, for the local times that the change left out.
        return ((local.map { $0 - last.segment.offset } ?? last.segment.start) * 1000, count)
    }

    /// Returns the first whole second after `instant` that is not before `from`.
    private func firstSecond(after instant: Int64) -> Int64 {
        var second = floorDivide(instant, 1000) + 1
        if let from { second = max(second, floorDivide(from, 1000) + (from % 1000 == 0 ? 0 : 1)) }
        return max(second, Self.seconds.lowerBound)
    }

    /// The part of a segment that is searched.
    private struct Stretch {
        /// The local times that may fire as themselves.
        var local: Range<Int64>
        /// Whether the first instant fires for local times that the change of offset left out. That instant is then
        /// not in `local`, so that it fires once.
        var firesAtStart: Bool
    }

    private func stretch(of segment: ZoneSegment, from second: Int64, through lastSecond: Int64) -> Stretch {
        var low = second + segment.offset
        let high = min(segment.end, lastSecond + 1) + segment.offset
        var firesAtStart = false
        if !expression.followsElapsedTime {
            if segment.skipped > 0 && second == segment.start {
                firesAtStart = expression.first(in: low - segment.skipped..<low) != nil
                if firesAtStart { low += 1 }
            } else {
                low = max(low, segment.firstNewLocal)
            }
        }
        return Stretch(local: low..<max(low, high), firesAtStart: firesAtStart)
    }
}
