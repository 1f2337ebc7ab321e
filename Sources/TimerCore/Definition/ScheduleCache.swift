import Primitives

/// A cache of cron schedules by their bytes in a definition: reading an expression costs as much as ten of its fires.
///
/// Each schedule has one place in the cache; another schedule of that place replaces it. A cache is confined to its
/// scheduler.
final class CronCache {
    /// The most schedules that are remembered.
    static let capacity = 4096

    /// The number of places in a row. A row is made when one of its places is first taken, since a process may have a
    /// thousand caches.
    private static let rowLength = 16
    private var rows: [[Schedule?]] = []
    /// The number of expressions that were read because the cache did not have them.
    private(set) var readings = 0

    /// Returns the schedule of an expression in a zone; nil if the text is no expression.
    func schedule(_ text: Span<UInt8>, zone: Span<UInt8>, from: Int64?) -> Schedule? {
        let (row, place) = Self.place(text, zone).quotientAndRemainder(dividingBy: Self.rowLength)
        if !rows.isEmpty, !rows[row].isEmpty, case .cron(let known)? = rows[row][place], known.from == from,
            Self.equal(known.text, text), Self.equal(known.zone, zone)
        {
            return rows[row][place]
        }
        readings += 1
        guard let read = Self.read(text, zone: zone, from: from) else { return nil }
        if rows.isEmpty { rows = [[Schedule?]](repeating: [], count: Self.capacity / Self.rowLength) }
        if rows[row].isEmpty { rows[row] = [Schedule?](repeating: nil, count: Self.rowLength) }
        rows[row][place] = read
        return read
    }

    /// Reads an expression without looking into the cache.
    static func read(_ text: Span<UInt8>, zone: Span<UInt8>, from: Int64?) -> Schedule? {
        (try? CronSchedule(array(text), zone: array(zone), from: from, isStored: true)).map { .cron($0) }
    }

    /// Returns the place of a schedule, by FNV-1a over both texts. The hash needs no key: schedules that a client
    /// makes collide are read again each time, which is no worse than without a cache.
    private static func place(_ text: Span<UInt8>, _ zone: Span<UInt8>) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in text.indices { hash = (hash ^ UInt64(text[index])) &* 0x100_0000_01b3 }
        for index in zone.indices { hash = (hash ^ UInt64(zone[index])) &* 0x100_0000_01b3 }
        return Int(truncatingIfNeeded: (hash >> 32) % UInt64(capacity))
    }

    private static func equal(_ bytes: [UInt8], _ span: Span<UInt8>) -> Bool {
        guard bytes.count == span.count else { return false }
        for index in span.indices where bytes[index] != span[index] { return false }
        return true
    }

    private static func array(_ span: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(copying: span)
        return bytes
    }
}
