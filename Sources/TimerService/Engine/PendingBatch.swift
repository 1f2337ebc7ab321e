import TimerCore
import TimerLog

/// The records that wait for the committer, and the positions that an engine gives out.
///
/// The positions of a batch's records are consecutive; its kicks, which go into rows of their own, get their
/// positions after them when the batch is taken.
struct PendingBatch {
    /// How many positions stay free before the first of each batch: see `AppendRules.settlements`.
    private let room: Int64
    /// The records but those of kicks.
    var records = RecordBuffers()
    /// Records of kicks.
    var kicks = RecordBuffers()
    private(set) var kickCount: Int64 = 0
    /// Whether `records` holds only one record, which says nothing new.
    private(set) var isTickOnly = false
    /// Position of the first record.
    private(set) var first: Int64 = 0
    /// The position that the next record gets; the first of a batch may get a later one.
    private(set) var next: Int64 = 0
    /// The newest position that is given out and not lost, or was found on disk.
    var head: Int64 = 0
    /// The newest position given out in this process.
    private(set) var givenOut: Int64 = 0
    /// Requests that the batch is to answer.
    var requests = 0

    /// An empty batch.
    ///
    /// - Parameter isShared: whether other processes may write the log as well.
    init(isShared: Bool = false) { room = isShared ? AppendRules.settlements : 0 }

    /// Whether there is nothing to write.
    var isEmpty: Bool { records.isEmpty }

    /// Bytes of records.
    var byteCount: Int { records.count + kicks.count }

    /// The position up to which the batch will go, with its kicks and a mark.
    var last: Int64 { next + kickCount }

    /// Gives the next record its position. The first of a batch is at least the clock's, so that no later process gives
    /// a position again.
    mutating func takePosition(at now: Now) -> Int64 {
        if records.isEmpty {
            // Streams of an empty log were shown the position before its first, and no position may lie between the
            // two.
            if head > 0 { skip(to: max(PositionClock.position(at: now), next + room)) }
            first = next
        }
        records.makeRoom()
        isTickOnly = false
        head = next
        givenOut = next
        next += 1
        return head
    }

    /// Notes that a kick was written.
    mutating func countKick() {
        kickCount += 1
        kicks.makeRoom()
    }

    /// Notes that the one record says nothing new.
    mutating func noteTick() { isTickOnly = true }

    /// Moves records and kicks into `batch`, whose buffers are empty and take their place; the kicks get their
    /// positions.
    mutating func move(into batch: inout ReadyBatch) {
        swap(&batch.records, &records)
        swap(&batch.kicks, &kicks)
        batch.first = first
        batch.firstKick = next
        batch.isTickOnly = isTickOnly
        batch.requests = requests
        requests = 0
        next += kickCount
        if kickCount > 0 {
            head = next - 1
            givenOut = head
        }
        kickCount = 0
    }

    /// Drops the records, which are lost.
    mutating func clear() {
        records.clear()
        kicks.clear()
        kickCount = 0
        requests = 0
    }

    /// Gives back the memory of empty buffers.
    mutating func shrink() {
        records.shrink()
        kicks.shrink()
    }

    /// Goes on after a log that ends at `head`, at `position` or later.
    mutating func resume(head: Int64, atOrAfter position: Int64) {
        skip(to: max(head + 1, position))
        first = next
        self.head = head
    }

    /// Goes on at `position` or later. Called only while the batch is empty, as its positions are consecutive.
    mutating func skip(to position: Int64) { next = max(next, position) }

    /// Returns the distance between two positions; 0 where there is no `earlier` one.
    func distance(from earlier: Int64, to later: Int64) -> Int64 { earlier == 0 ? 0 : later - earlier }
}

/// The mapping of an engine's clock to positions.
///
/// A batch begins at the position of its instant, or after the last position given where that is greater. Records
/// come at less than 2^30 a second, so the positions that a process gives stay below those of this clock, and the
/// next process begins above them, also where the log does not hold the last ones.
enum PositionClock {
    /// Positions of one second.
    static let perSecond = CalendarPosition.perSecond
    /// From this second on (in the year 2106) positions follow the log alone.
    static let lastSecond = CalendarPosition.lastSecond

    /// Returns the position of the calendar's instant at `now`.
    static func position(at now: Now) -> Int64 { CalendarPosition.at(realtime: now.nanoseconds(on: .wall)) }
}
