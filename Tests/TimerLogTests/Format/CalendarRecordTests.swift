import TestSupport
import Testing

@testable import TimerCore
@testable import TimerLog

/// Records of calendars, and their fold.
struct CalendarRecordTests {
    private static let base = TimeBase(
        now: Now(elapsed: 1, wallOffset: 2), boottime: 3, boot: Hash128(high: 5, low: 6))

    private static func calendar(
        _ name: String = "b", version: Int64 = 3, by actor: Actor? = .token, _ hours: String = "09:00-17:00"
    ) throws -> NamedCalendar {
        NamedCalendar(
            name: try #require(CalendarName(name.utf8)), content: try .mondays(hours), version: version, updatedAt: 1,
            changedBy: actor)
    }

    private static func bytes(_ calendar: NamedCalendar) -> [UInt8] {
        var bytes: [UInt8] = []
        RecordCodec.append(calendar, to: &bytes)
        return bytes
    }

    private static func deletion(of calendar: NamedCalendar) -> [UInt8] {
        var bytes: [UInt8] = []
        RecordCodec.appendDeletion(
            of: calendar.name, version: calendar.version, by: calendar.changedBy, at: 1, to: &bytes)
        return bytes
    }

    private func fold(_ rows: [[UInt8]]) throws -> (table: CalendarTable, floor: Int64) {
        var fold = LogFold(secret: [1, 2, 3])
        var last: Int64 = 0
        for records in rows {
            for row in BatchRows.make(records: records, first: last + 1, previous: last, epoch: 0, base: Self.base) {
                try fold.fold(row)
                last = row.last
            }
        }
        let table = fold.calendars
        return (table, fold.finish().versionFloor)
    }

    /// Whether a record with this body, framed and with the right checksum, is read.
    private func isRead(_ body: [UInt8]) throws -> Bool {
        let count = UInt32(body.count)
        let frame = (0..<4).map { UInt8(truncatingIfNeeded: count >> UInt32(8 * $0)) } + [0, 0, 0, 0]
        let rows = BatchRows.make(records: frame + body, first: 9, previous: 8, epoch: 0, base: Self.base)
        let row = try #require(rows.first)
        do throws(StoreError) {
            try BatchRows.read(row) { _ in true }
            return true
        } catch {
            return false
        }
    }

    @Test func `a calendar is the bytes that the document of the format says`() throws {
        let calendar = try Self.calendar()
        let head: [UInt8] = [45, 2, 3, 3, 1, 0x62, 5] + Array("token".utf8)
        #expect(Array(Self.bytes(calendar).dropFirst(RecordCodec.frameCount)) == head + calendar.content.bytes)
        let unnamed = try Self.calendar(by: nil)
        #expect(Array(Self.deletion(of: unnamed).dropFirst(RecordCodec.frameCount)) == [45, 2, 0, 3, 1, 0x62])
    }

    @Test func `members that a calendar can't have are damage`() throws {
        let body = Array(Self.bytes(try Self.calendar()).dropFirst(RecordCodec.frameCount))
        func changed(_ index: Int, to byte: UInt8) -> [UInt8] {
            var changed = body
            changed[index] = byte
            return changed
        }
        #expect(try isRead(body))
        #expect(try !isRead(changed(2, to: 17)), "this bit has no meaning")
        #expect(try !isRead(changed(2, to: 6)), "a deletion has no editions")
        #expect(try !isRead(changed(2, to: 10)), "a deletion has no zone")
        #expect(try !isRead(changed(2, to: 2)), "a deletion has no content")
        #expect(try !isRead(changed(3, to: 0)), "versions begin at 1")
        #expect(try !isRead(changed(5, to: UInt8(ascii: " "))), "no calendar has this name")
        #expect(try !isRead(changed(7, to: 0)), "no actor has this name")
        #expect(try !isRead(body + [0]))
    }

    @Test func `earlier editions are kept with the calendar`() throws {
        var calendar = try Self.calendar()
        let before = try Self.calendar("b", "10:00-11:00")
        calendar.edition = 2
        calendar.past = [
            PastHours(before.content.hours, edition: 0, until: -5),
            PastHours(calendar.content.hours, edition: 1, until: 1),
        ]
        #expect(try fold([Self.bytes(calendar)]).table.all == [calendar])
        calendar.past = []
        #expect(try fold([Self.bytes(calendar)]).table.all == [calendar])

        let body = Array(Self.bytes(calendar).dropFirst(RecordCodec.frameCount))
        // The kind, the instant, the bits, the version, the name, the actor, then the edition and the number of past ones.
        #expect(body[12...13] == [2, 0])
        var damaged = body
        damaged[13] = 9
        #expect(try !isRead(damaged), "there are fewer")
        damaged = Array(body[..<13]) + [1, 0, 0, 1, 7, 0] + body[14...]
        #expect(try !isRead(damaged), "these are no opening hours")
    }

    @Test func `the data of a calendar's zone are kept with it and with its editions`() throws {
        var calendar = try Self.calendar()
        calendar.zone = ZoneData(.utc, around: 1)
        let next = calendar.rezoned(ZoneData(.utc, around: 1_000_000), at: 7)
        #expect(
            next.edition == 1
                && next.past == [PastHours(calendar.content.hours, zone: calendar.zone, edition: 0, until: 7)])
        #expect(try fold([Self.bytes(calendar)]).table.all == [calendar])
        #expect(try fold([Self.bytes(calendar), Self.bytes(next)]).table.all == [next])
        let body = Array(Self.bytes(calendar).dropFirst(RecordCodec.frameCount))
        let zone = try #require(calendar.zone).bytes
        // The zone's length comes after the actor.
        #expect(body[12] == UInt8(zone.count) && Array(body[13..<13 + zone.count]) == zone)
        var damaged = body
        damaged.replaceSubrange(12..<13 + zone.count, with: [1, 7])
        #expect(try !isRead(damaged), "these are no data of a zone")
    }

    @Test func `the newest record of a calendar counts`() throws {
        let (first, second) = (try Self.calendar("a"), try Self.calendar("b", version: 4))
        let changed = try Self.calendar("a", version: 5, by: nil, "10:00-11:00")
        let made = Self.bytes(first) + Self.bytes(second)
        #expect(try fold([made]).table.all == [first, second])
        #expect(try fold([made, Self.bytes(changed)]).table.all == [changed, second])
        #expect(try fold([made, Self.deletion(of: first)]).table.all == [second])
        #expect(try fold([Self.deletion(of: first)]).table.count == 0)
    }

    @Test func `the version of a deleted calendar is below the floor of new ones`() throws {
        let calendar = try Self.calendar(version: 7)
        #expect(try fold([Self.bytes(calendar)]).floor == 0)
        #expect(try fold([Self.bytes(calendar), Self.deletion(of: calendar)]).floor == 7)
    }
}
