/// The place of a due instant that falls into closed time.
public enum ClosedPolicy: UInt8, Sendable, CaseIterable {
    /// The instant is dropped: it does not belong to the schedule.
    case skip = 0
    /// The next opening.
    case next = 1
    /// The same local time on the next day on which that time is open.
    case nextDay = 2
    /// The same local time on the last day before on which that time is open.
    case previousDay = 3

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .skip: "skip"
        case .next: "next"
        case .nextDay: "nextDay"
        case .previousDay: "previousDay"
        }
    }

    /// The most days that an instant is moved by; one that would be moved further is dropped.
    public static let dayLimit: Int64 = 366

    /// Whether an instant is moved to another day, and keeps its local time.
    public var keepsLocalTime: Bool { direction != nil }

    /// The days in which a search goes on, 1 or -1; nil for a policy that keeps no local time.
    var direction: Int64? {
        switch self {
        case .skip, .next: nil
        case .nextDay: 1
        case .previousDay: -1
        }
    }
}

extension OpenHours {
    /// Returns a due instant as a policy moves it: one in open time is not moved; nil for one that is dropped.
    ///
    /// - Parameter zone: the zone whose local time `nextDay` and `previousDay` keep. A local time that a gap leaves out
    ///   is the end of the gap, and one that comes twice is the first.
    public func moved(_ instant: Int64, by policy: ClosedPolicy, in zone: TimeZoneTable) -> Int64? {
        if isOpen(at: instant) { return instant }
        guard let direction = policy.direction else {
            guard policy == .next, let opening = nextOpening(atOrAfter: instant) else { return nil }
            return opening - instant <= ClosedPolicy.dayLimit * Schedule.day ? opening : nil
        }
        let local = zone.local(at: instant)
        for day in 1...ClosedPolicy.dayLimit {
            let moved = zone.firstInstant(atLocal: local + direction * day * Schedule.day)
            if isOpen(at: moved) { return moved <= lastInstant ? moved : nil }
        }
        return nil
    }
}

// Local times in milliseconds.
extension TimeZoneTable {
    /// Returns the local time at an instant.
    func local(at instant: Int64) -> Int64 { instant + offset(at: floorDivide(instant, 1000)) * 1000 }

    /// Returns the first instant at which the clocks have come to a local time or passed it.
    func firstInstant(atLocal local: Int64) -> Int64 {
        let second = floorDivide(local, 1000)
        // No offset is above the upper bound, so every earlier instant has an earlier local time.
        var segment = segment(at: second - Self.offsets.upperBound - 1)
        while second - segment.offset >= segment.end { segment = self.segment(at: segment.end) }
        return segment.start > second - segment.offset ? segment.start * 1000 : local - segment.offset * 1000
    }

    /// Returns the latest local time up to an instant, however the clocks went back.
    func latestLocal(at instant: Int64) -> Int64 {
        let segment = segment(at: floorDivide(instant, 1000))
        return max(instant + segment.offset * 1000, segment.start > .min ? segment.firstNewLocal * 1000 - 1 : .min)
    }

    /// Returns the local times whose instants lie in a range.
    func localRange(of instants: Range<Int64>) -> Range<Int64> {
        let start = latestLocal(at: instants.lowerBound - 1) + 1
        return start..<max(start, latestLocal(at: instants.upperBound - 1) + 1)
    }
}
