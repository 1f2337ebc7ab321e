import TimerCore
import TimerLog

/// A check of the rows as they land, for the promises to a reader of every stream, whatever the model knows.
struct LogAudit {
    /// An event as streams show it.
    struct Event: Equatable {
        var position: Int64
        var id: String
        var type: EventType
    }

    private struct Life {
        var runs = false
        var exists = true
        var version: Int64
    }

    /// Every event that ever landed, in order.
    private(set) var events: [Event] = []
    /// The event types and reasons that ever landed.
    private(set) var types: Set<EventType> = []
    private(set) var reasons: Set<EventReason> = []
    /// The position of the newest record that landed.
    private(set) var head: Int64 = 0
    private var rows: [ClosedRange<Int64>] = []
    private var lives: [String: Life] = [:]

    /// Whether the record at `position` landed.
    func holds(_ position: Int64) -> Bool {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].upperBound < position { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && rows[low].contains(position)
    }

    mutating func land(_ row: LogRow) throws {
        try promise(row.first > head, "position \(row.first) lands behind \(head)")
        var found: [(LogRecord, Recorded)] = []
        try BatchRows.read(row) { record in
            if let recorded = Recorded(record, row) { found.append((record, recorded)) }
            return true
        }
        for (record, recorded) in found {
            guard let id = recorded.id, let type = recorded.event.type else { continue }
            types.insert(type)
            reasons.insert(recorded.event.reason)
            events.append(Event(position: record.position, id: id, type: type))
            try follow(id, type, record)
        }
        head = row.last
        rows.append(row.first...row.last)
    }

    /// Follows a timer's life by one event.
    mutating func follow(_ id: String, _ type: EventType, _ record: LogRecord) throws(BrokenPromise) {
        // A delivery's outcome changes no timer, and may come after its timer was deleted.
        if type.isDelivery { return }
        let version = record.progress.version
        var life = lives[id] ?? Life(exists: false, version: 0)
        try promise(version >= life.version, "\(id) goes back to version \(version)")
        try promise(life.exists != (type == .created), "\(id) is \(type.name) at \(record.position)")
        if type == .created { try promise(version > life.version, "\(id) is made again as version \(version)") }
        life.exists = type != .deleted
        switch type {
        case .activated, .resumed: life.runs = true
        case .created, .updated: life.runs = record.progress.state == .running
        case .fired: try promise(life.runs, "\(id) fires at \(record.position) while it does not run")
        case .suspended, .cancelled, .completed, .deleted: life.runs = false
        case .rescheduled, .recovered, .delivered, .deliveryFailed, .deliveryDead: break
        }
        life.version = version
        lives[id] = life
    }
}
