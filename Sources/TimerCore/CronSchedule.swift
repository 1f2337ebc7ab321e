/// A cron expression in a time zone, as a timer carries it.
public struct CronSchedule: Sendable, Equatable {
    /// The expression as its client wrote it.
    public let text: [UInt8]
    /// The IANA name of the time zone.
    public let zone: [UInt8]
    /// Wall milliseconds before which nothing is due; nil for no such bound.
    public let from: Int64?

    /// Reads an expression.
    ///
    /// - Parameters:
    ///   - text: five fields, six with seconds first, or a name such as `@daily`.
    ///   - zone: an IANA name; whether there is such a zone is not looked up here.
    ///   - from: wall milliseconds before which nothing is due.
    public init(_ text: [UInt8], zone: [UInt8], from: Int64?) throws(CronError) {
        self.text = text
        self.zone = zone
        self.from = from
    }

    /// Whether it names the same instants; how it is spelled does not count.
    public static func == (left: CronSchedule, right: CronSchedule) -> Bool {
        left.text == right.text && left.zone == right.zone && left.from == right.from
    }

    /// The first instant after `instant`, in wall milliseconds; nil when none follows up to the year 9999.
    public func next(after instant: Int64, in zone: TimeZoneTable) -> Int64? { nil }

    /// The last instant at or before `end` of those after `start`, and how many there are; nil when there is none.
    public func latest(after start: Int64, through end: Int64, in zone: TimeZoneTable) -> (
        instant: Int64, count: Int64
    )? {
        nil
    }
}

/// Why a cron expression was refused, in one line that names the field.
public struct CronError: Error, Sendable, Equatable {
    /// The line.
    public let message: String
}
