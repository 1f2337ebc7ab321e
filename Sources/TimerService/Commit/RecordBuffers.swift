import TimerCore
import TimerLog

/// Records, encoded, one after the other, in buffers of bounded size.
///
/// An array that grows is copied into one of twice its size. With all records in one array, the thread that held the
/// engine's lock copied tens of megabytes at once, for up to 36 ms.
struct RecordBuffers {
    /// The buffers that take no further record, each with whole records.
    private(set) var full: [[UInt8]] = []
    /// The buffer that the next record is written to.
    var open: [UInt8] = []
    private var fullBytes = 0

    /// Bytes from which on a buffer takes no further record.
    static let bufferBytes = 1 << 20
    /// The room in a new buffer for the last record, in bytes, so that most buffers never grow.
    private static let lastRecord = 128 << 10

    /// Whether there are no records.
    var isEmpty: Bool { open.isEmpty && full.isEmpty }

    /// Bytes of all records.
    var count: Int { fullBytes + open.count }

    /// Opens another buffer where the open one is full. Called before a record is written.
    mutating func makeRoom() {
        guard open.count >= Self.bufferBytes else { return }
        var buffer: [UInt8] = []
        buffer.reserveCapacity(Self.bufferBytes + Self.lastRecord)
        swap(&buffer, &open)
        fullBytes += buffer.count
        full.append(buffer)
    }

    /// Puts `records` before all others.
    mutating func prepend(_ records: [UInt8]) {
        if full.isEmpty {
            open = records + open
        } else {
            fullBytes += records.count
            full[0] = records + full[0]
        }
    }

    /// Drops the records, and keeps the memory of the open buffer unless a large record has made it grow.
    mutating func clear() {
        full = []
        fullBytes = 0
        if open.capacity > 2 * Self.bufferBytes { open = [] }
        open.removeAll(keepingCapacity: true)
    }

    /// Gives back the memory of an empty buffer.
    mutating func shrink() {
        if open.isEmpty { open = [] }
    }

    /// Makes the rows of the records: see `BatchRows.make`.
    func rows(
        kind: RowKind = .events, first: Int64, previous: Int64, epoch: Int64, base: TimeBase
    ) -> [LogRow] {
        var rows: [LogRow] = []
        for buffer in full + [open] {
            let last = rows.last?.last
            rows += BatchRows.make(
                kind: kind, records: buffer, first: last.map { $0 + 1 } ?? first, previous: last ?? previous,
                epoch: epoch, base: base)
        }
        return rows
    }
}
