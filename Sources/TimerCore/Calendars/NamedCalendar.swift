/// The name of a calendar: 1 to 63 of `A-Z a-z 0-9 . _ ~ -`, but neither `.` nor `..`, which no path can hold.
public struct CalendarName: Sendable, Hashable, Comparable {
    /// The most bytes of a name.
    public static let longest = 63
    /// The text.
    public let bytes: [UInt8]

    /// Makes a name; nil where no calendar may have it.
    public init?(_ text: some Collection<UInt8>) {
        bytes = Array(text)
        let isPathStep = bytes.elementsEqual(".".utf8) || bytes.elementsEqual("..".utf8)
        guard (1...Self.longest).contains(bytes.count), TimerID.isPrefix(bytes), !isPathStep else { return nil }
    }

    /// Orders names by their bytes.
    public static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

/// The part of a calendar that its client sets, as one run of bytes: what it means, and how the client wrote it.
///
/// ```
/// definition  its length, then its bytes: see `CalendarDefinition.encode`
/// week        its length, then the JSON of the member `week` without white space
/// dates       the same for `dates`
/// ```
///
/// The lengths are varints. Two contents are equal if their clients wrote the same.
public struct CalendarContent: Sendable, Equatable {
    /// The run.
    public let bytes: [UInt8]

    /// The parts of the run.
    public struct Parts: Sendable {
        /// The opening hours.
        public let definition: CalendarDefinition
        /// The JSON of the member `week`.
        public let week: [UInt8]
        /// The JSON of the member `dates`.
        public let dates: [UInt8]
    }

    /// Makes the run of its parts; the texts are JSON that means what `definition` says.
    public init(_ definition: CalendarDefinition, week: [UInt8], dates: [UInt8]) {
        var encoded: [UInt8] = []
        definition.encode(into: &encoded)
        var bytes: [UInt8] = []
        for part in [encoded, week, dates] { ByteCoding.append(run: part, to: &bytes) }
        self.bytes = bytes
    }

    /// Takes a run of the log; nil unless it is whole.
    public init?(decoding bytes: [UInt8]) {
        guard Self.parts(of: bytes) != nil else { return nil }
        self.bytes = bytes
    }

    /// Returns the opening hours in the form that answers questions; nil if the zone is not known.
    public func openHours(in zones: any ZoneSource) -> OpenHours? {
        let definition = parts.definition
        return zones.zone(named: definition.zone).map { OpenHours(definition, in: $0) }
    }

    /// The parts, which are decoded at each call, in proportion to the number of dates.
    public var parts: Parts {
        guard let parts = Self.parts(of: bytes) else { preconditionFailure("the run was made of parts, or checked") }
        return parts
    }

    /// The name of the time zone, with which the opening hours begin.
    public var zone: [UInt8] {
        var offset = 0
        _ = ByteCoding.read(bytes.span, &offset)
        return ByteCoding.readRun(bytes.span, &offset) ?? []
    }

    /// The JSON of the members `week` and `dates`.
    public var texts: (week: [UInt8], dates: [UInt8]) {
        var offset = 0
        let count = ByteCoding.read(bytes.span, &offset) ?? 0
        offset += Int(count)
        return (ByteCoding.readRun(bytes.span, &offset) ?? [], ByteCoding.readRun(bytes.span, &offset) ?? [])
    }

    /// The bytes of the opening hours, the first part.
    var hours: [UInt8] {
        var offset = 0
        return ByteCoding.readRun(bytes.span, &offset) ?? []
    }

    private static func parts(of bytes: [UInt8]) -> Parts? {
        var offset = 0
        guard let encoded = ByteCoding.readRun(bytes.span, &offset),
            let definition = CalendarDefinition(decoding: encoded.span),
            let week = ByteCoding.readRun(bytes.span, &offset), let dates = ByteCoding.readRun(bytes.span, &offset),
            offset == bytes.count
        else { return nil }
        return Parts(definition: definition, week: week, dates: dates)
    }
}

/// A calendar as clients name and change it.
public struct NamedCalendar: Sendable, Equatable {
    /// The name.
    public let name: CalendarName
    /// The part that the client set.
    public var content: CalendarContent
    /// The number that grows with each change and never repeats for the name.
    public var version: Int64
    /// Wall milliseconds of the last change.
    public var updatedAt: Int64
    /// The client that made the last change; nil for one that was asked for no credential.
    public var changedBy: Actor?
    /// The data of the time zone by which the opening hours are read; nil for those of this machine.
    public var zone: ZoneData?
    /// The number of changes of the opening hours, which wraps around.
    public var edition: UInt8
    /// The opening hours of earlier editions by which timers may still be planned, the oldest first.
    public var past: [PastHours]

    /// The most earlier editions that are kept.
    public static let mostPast = 8

    /// Describes a calendar; see the members.
    public init(
        name: CalendarName, content: CalendarContent, version: Int64, updatedAt: Int64, changedBy: Actor? = nil,
        zone: ZoneData? = nil, edition: UInt8 = 0, past: [PastHours] = []
    ) {
        self.name = name
        self.content = content
        self.version = version
        self.updatedAt = updatedAt
        self.changedBy = changedBy
        self.zone = zone
        self.edition = edition
        self.past = past
    }

    /// Returns this calendar as the one that follows `before`, whose opening hours it keeps if they are others.
    ///
    /// - Parameter instant: wall milliseconds of the change, which may differ from those that the calendar shows.
    public func following(_ before: NamedCalendar, at instant: Int64) -> NamedCalendar {
        var calendar = self
        calendar.edition = before.edition
        calendar.past = before.past
        if before.content.hours != content.hours { calendar.begin(editionAfter: before, at: instant) }
        return calendar
    }

    /// Returns this calendar with other data of its time zone from an instant on.
    ///
    /// - Parameter instant: wall milliseconds of the change.
    public func rezoned(_ zone: ZoneData, at instant: Int64) -> NamedCalendar {
        var calendar = self
        calendar.zone = zone
        calendar.begin(editionAfter: self, at: instant)
        return calendar
    }

    private mutating func begin(editionAfter before: NamedCalendar, at instant: Int64) {
        past.append(PastHours(before.content.hours, zone: before.zone, edition: before.edition, until: instant))
        edition &+= 1
    }
}

/// The opening hours that a calendar had before a change.
public struct PastHours: Sendable, Equatable {
    /// The opening hours: see `CalendarDefinition.encode`.
    public let hours: [UInt8]
    /// The data of the time zone by which they were read; nil for those of this machine.
    public let zone: ZoneData?
    /// Their edition.
    public let edition: UInt8
    /// Wall milliseconds of the change.
    public let until: Int64

    /// Describes past opening hours; see the members.
    public init(_ hours: [UInt8], zone: ZoneData? = nil, edition: UInt8, until: Int64) {
        self.hours = hours
        self.zone = zone
        self.edition = edition
        self.until = until
    }
}

/// All calendars as they are at one moment.
public struct CalendarTable: Sendable, Equatable {
    private var calendars: [CalendarName: NamedCalendar] = [:]
    /// The bytes of all contents.
    public private(set) var byteCount = 0

    /// The most calendars.
    public static let most = 1000
    /// The most bytes of all contents. Opening hours that are in use take up to eight times as many besides.
    public static let mostBytes = 16 << 20

    /// Makes a table without calendars.
    public init() {}

    /// The number of calendars.
    public var count: Int { calendars.count }

    /// The calendar of a name; nil where there is none.
    public subscript(name: CalendarName) -> NamedCalendar? { calendars[name] }

    /// Sets the calendar of its name.
    public mutating func set(_ calendar: NamedCalendar) {
        remove(calendar.name)
        calendars[calendar.name] = calendar
        byteCount += calendar.content.bytes.count
    }

    /// Removes the calendar of a name, if there is one.
    public mutating func remove(_ name: CalendarName) {
        byteCount -= calendars.removeValue(forKey: name)?.content.bytes.count ?? 0
    }

    /// All calendars, by name.
    public var all: [NamedCalendar] { calendars.values.sorted { $0.name < $1.name } }
}

/// The reason for which a calendar is not made, changed or shown; nothing was changed.
public enum CalendarRefusal: Error, Sendable, Equatable {
    /// No calendar has this name.
    case notFound
    /// A calendar of this name is there, and it is another one.
    case exists
    /// The condition on the version does not hold; `current` is nil if there is no calendar.
    case versionMismatch(current: Int64?)
    /// So many timers go by the calendar, and have not ended.
    case inUse(timers: Int)
    /// Timers are still planned by as many earlier editions of the calendar as are kept.
    case isChanging
    /// Calendars are as many as may be, or their contents as long together.
    case isFull
}
