import Primitives
public import TimerCore

/// The bytes of calendars.
///
/// ```
/// calendar   the instant of the change, also where the record is written again; a byte: whether there is a calendar
///            from here on, with `calendarActorBit`, `editionBit` and `zoneBit`; a varint of the calendar's version, of a
///            deleted one the last; its name after a varint of the length; with the bits the actor, the zone and the
///            editions; unless it is deleted its content up to the end of the record: see `CalendarContent`
/// zone       the data of its time zone after a varint of the length: see `ZoneData`
/// editions   a byte, the edition; a byte, the number of past ones, and for each: its edition, a byte; how long before
///            the calendar's change it was replaced, an svarint; its opening hours after a varint of the length; its
///            zone, of length 0 where there is none
/// ```
extension RecordCodec {
    private static let calendarBit: UInt8 = 1
    private static let calendarActorBit: UInt8 = 2
    private static let editionBit: UInt8 = 4
    private static let zoneBit: UInt8 = 8

    /// Appends the record of a calendar as it is from here on.
    public static func append(_ calendar: NamedCalendar, to bytes: inout [UInt8]) {
        let hasEditions = calendar.edition != 0 || !calendar.past.isEmpty
        let bits = calendarBit | (hasEditions ? editionBit : 0) | (calendar.zone == nil ? 0 : zoneBit)
        let start = begin(
            calendar.name, bits, version: calendar.version, by: calendar.changedBy, at: calendar.updatedAt, &bytes)
        if let zone = calendar.zone { ByteCoding.append(run: zone.bytes, to: &bytes) }
        if hasEditions { appendEditions(of: calendar, to: &bytes) }
        bytes += calendar.content.bytes
        endFrame(start, &bytes)
    }

    private static func appendEditions(of calendar: NamedCalendar, to bytes: inout [UInt8]) {
        bytes.append(calendar.edition)
        bytes.append(UInt8(calendar.past.count))
        for past in calendar.past {
            bytes.append(past.edition)
            ByteCoding.append(signed: calendar.updatedAt - past.until, to: &bytes)
            ByteCoding.append(run: past.hours, to: &bytes)
            ByteCoding.append(run: past.zone?.bytes ?? [], to: &bytes)
        }
    }

    /// Appends the record that a calendar is deleted.
    ///
    /// - Parameters:
    ///   - version: the last version that it had.
    ///   - actor: the client that deleted it; nil for one that was asked for no credential.
    public static func appendDeletion(
        of name: CalendarName, version: Int64, by actor: Actor?, at: Int64, to bytes: inout [UInt8]
    ) {
        endFrame(begin(name, 0, version: version, by: actor, at: at, &bytes), &bytes)
    }

    /// Begins a record with all but the calendar itself. Returns the start of its frame.
    private static func begin(
        _ name: CalendarName, _ bits: UInt8, version: Int64, by actor: Actor?, at: Int64, _ bytes: inout [UInt8]
    ) -> Int {
        let start = beginFrame(&bytes)
        bytes.append(calendarKind)
        ByteCoding.append(signed: at, to: &bytes)
        bytes.append(bits | (actor == nil ? 0 : calendarActorBit))
        ByteCoding.append(UInt64(version), to: &bytes)
        ByteCoding.append(run: name.bytes, to: &bytes)
        if let actor { append(actor, to: &bytes) }
        return start
    }

    static func calendar(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset),
            let bits = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }),
            bits <= calendarBit | calendarActorBit | editionBit | zoneBit,
            bits & calendarBit != 0 || bits & (editionBit | zoneBit) == 0,
            let version = ByteCoding.read(bytes, &offset),
            (1...UInt64(Int64.max)).contains(version),
            let name = ByteCoding.readRun(bytes, &offset).flatMap({ CalendarName($0) })
        else { return false }
        var actor: Actor?
        if bits & calendarActorBit != 0 {
            guard let name = readActor(bytes, &offset) else { return false }
            actor = self.actor(bytes, name)
        }
        record.at = at
        guard bits & calendarBit != 0 else {
            record.content = .deletedCalendar(name, version: Int64(version), by: actor)
            return offset == bytes.count
        }
        var zone: ZoneData?
        if bits & zoneBit != 0 {
            guard let data = ByteCoding.readRun(bytes, &offset).flatMap({ ZoneData(decoding: $0) }) else {
                return false
            }
            zone = data
        }
        var editions: (edition: UInt8, past: [PastHours])? = (0, [])
        if bits & editionBit != 0 { editions = readEditions(bytes, &offset, at: at) }
        let rest = Array(copying: bytes.extracting(offset..<bytes.count))
        guard let editions, let content = CalendarContent(decoding: rest) else { return false }
        record.content = .calendar(
            NamedCalendar(
                name: name, content: content, version: Int64(version), updatedAt: at, changedBy: actor,
                zone: zone, edition: editions.edition, past: editions.past))
        return true
    }

    private static func readEditions(
        _ bytes: Span<UInt8>, _ offset: inout Int, at: Int64
    ) -> (edition: UInt8, past: [PastHours])? {
        guard let edition = ByteCoding.readFixed(bytes, &offset, count: 1),
            let count = ByteCoding.readFixed(bytes, &offset, count: 1), count <= NamedCalendar.mostPast
        else { return nil }
        var past: [PastHours] = []
        for _ in 0..<count {
            guard let number = ByteCoding.readFixed(bytes, &offset, count: 1),
                let age = ByteCoding.readSigned(bytes, &offset), let hours = ByteCoding.readRun(bytes, &offset),
                CalendarDefinition(decoding: hours.span) != nil, let data = ByteCoding.readRun(bytes, &offset)
            else { return nil }
            let zone = data.isEmpty ? nil : ZoneData(decoding: data)
            let until = at &- age
            // The end of the year 9999 is not so far from 1970.
            guard until.magnitude < 1 << 48, (zone == nil) == data.isEmpty else { return nil }
            past.append(PastHours(hours, zone: zone, edition: UInt8(number), until: until))
        }
        return (UInt8(edition), past)
    }
}
