import Primitives

/// A cache of cron and recurrence schedules by their bytes in a definition: reading an expression costs as much as ten of
/// its fires.
///
/// Each schedule has one place in the cache; another schedule of that place replaces it. A cache is confined to its
/// scheduler.
final class ScheduleCache {
    /// The most schedules that are remembered.
    static let capacity = 4096
    /// The most bytes that they take together in definitions; with one more all are forgotten.
    static let byteLimit = 8 << 20
    /// The time zones that schedules name.
    let zones: any ZoneSource

    private struct Entry {
        let shape: UInt8
        let bytes: [UInt8]
        let schedule: Schedule
    }

    /// The number of places in a row. A row is made when one of its places is first taken, since a process may have a
    /// thousand caches.
    private static let rowLength = 16
    private var rows: [[Entry?]] = []
    private var byteCount = 0
    /// The cost of reading a recurrence, as the last instant of its `COUNT` is looked for, in small timers that fire.
    static let recurrenceCost = 8
    /// The cost of reading the schedules that the cache did not have so far, in small timers that fire.
    private(set) var cost = 0

    init(_ zones: any ZoneSource) { self.zones = zones }

    /// Returns the schedule that was kept with this shape and these bytes; nil if the cache does not have it.
    func find(_ shape: UInt8, _ bytes: Span<UInt8>) -> Schedule? {
        let (row, place) = Self.place(bytes)
        guard !rows.isEmpty, !rows[row].isEmpty, let known = rows[row][place], known.shape == shape,
            Definition.equal(known.bytes.span, bytes)
        else { return nil }
        return known.schedule
    }

    /// Keeps a schedule that was read from these bytes.
    func keep(_ schedule: Schedule, _ shape: UInt8, _ bytes: Span<UInt8>) {
        cost += schedule.kind == .recurrence ? Self.recurrenceCost : 1
        let (row, place) = Self.place(bytes)
        if byteCount + bytes.count > Self.byteLimit { (rows, byteCount) = ([], 0) }
        if rows.isEmpty { rows = [[Entry?]](repeating: [], count: Self.capacity / Self.rowLength) }
        if rows[row].isEmpty { rows[row] = [Entry?](repeating: nil, count: Self.rowLength) }
        byteCount += bytes.count - (rows[row][place]?.bytes.count ?? 0)
        rows[row][place] = Entry(shape: shape, bytes: [UInt8](copying: bytes), schedule: schedule)
    }

    /// Returns the place of a schedule, by FNV-1a over its bytes. The hash needs no key: schedules that a client makes
    /// collide are read again each time, which is no worse than without a cache.
    private static func place(_ bytes: Span<UInt8>) -> (row: Int, place: Int) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        let (row, place) = Int(truncatingIfNeeded: (hash >> 32) % UInt64(capacity))
            .quotientAndRemainder(dividingBy: rowLength)
        return (row, place)
    }
}
