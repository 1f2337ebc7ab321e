import Primitives
public import TimerCore

/// The bytes of calendars.
///
/// ```
/// calendar   the instant of the change, also where the record is written again; a byte: whether there is a calendar
///            from here on, with `calendarActorBit`; a varint of the calendar's version, of a deleted one the last; its
///            name after a varint of the length; with that bit the actor; unless it is deleted its content up to the
///            end of the record: see `CalendarContent`
/// ```
extension RecordCodec {
    private static let calendarBit: UInt8 = 1
    private static let calendarActorBit: UInt8 = 2

    /// Appends the record of a calendar as it is from here on.
    public static func append(_ calendar: NamedCalendar, to bytes: inout [UInt8]) {
        append(
            calendar.name, calendar.content, version: calendar.version, by: calendar.changedBy, at: calendar.updatedAt,
            to: &bytes)
    }

    /// Appends the record that a calendar is deleted.
    ///
    /// - Parameters:
    ///   - version: the last version that it had.
    ///   - actor: the client that deleted it; nil for one that was asked for no credential.
    public static func appendDeletion(
        of name: CalendarName, version: Int64, by actor: Actor?, at: Int64, to bytes: inout [UInt8]
    ) {
        append(name, nil, version: version, by: actor, at: at, to: &bytes)
    }

    private static func append(
        _ name: CalendarName, _ content: CalendarContent?, version: Int64, by actor: Actor?, at: Int64,
        to bytes: inout [UInt8]
    ) {
        let start = beginFrame(&bytes)
        bytes.append(calendarKind)
        ByteCoding.append(signed: at, to: &bytes)
        bytes.append((content == nil ? 0 : calendarBit) | (actor == nil ? 0 : calendarActorBit))
        ByteCoding.append(UInt64(version), to: &bytes)
        ByteCoding.append(run: name.bytes, to: &bytes)
        if let actor { append(actor, to: &bytes) }
        if let content { bytes += content.bytes }
        endFrame(start, &bytes)
    }

    static func calendar(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset),
            let bits = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }),
            bits <= calendarBit | calendarActorBit, let version = ByteCoding.read(bytes, &offset),
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
        let rest = Array(copying: bytes.extracting(offset..<bytes.count))
        guard let content = CalendarContent(decoding: rest) else { return false }
        record.content = .calendar(
            NamedCalendar(
                name: name, content: content, version: Int64(version), updatedAt: at, changedBy: actor))
        return true
    }
}
