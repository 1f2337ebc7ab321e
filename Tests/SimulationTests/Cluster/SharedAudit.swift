import TimerCore
import TimerLog

/// A check of the rows of the shared log as they land, whoever has written them, and the history of each timer.
struct SharedAudit {
    /// One version of a timer, as the log has it.
    struct Version: Equatable {
        var position: Int64
        var number: Int64
        /// Nil where the timer was deleted.
        var state: HeldTimer?
    }

    /// Position of the newest record.
    private(set) var head: Int64 = 0
    private var epoch: Int64 = 0
    /// Positions of the records that hold definitions.
    private var bases: [Int64: (id: String, definition: [UInt8])] = [:]
    /// Every event, in order.
    private(set) var events: [LogAudit.Event] = []
    /// The versions of each timer, in the order of its log.
    private(set) var timers: [String: [Version]] = [:]
    private(set) var fires = 0
    /// The first positions of all rows.
    private(set) var rows: Set<Int64> = []
    private var lives = LogAudit()
    /// The newest position through which some reader was shown all events.
    var shownThrough: Int64 = 0

    /// Checks a barrier that was written.
    mutating func land(_ barrier: Barrier) throws(BrokenPromise) {
        try promise(barrier.epoch > epoch, "the log goes from epoch \(epoch) to \(barrier.epoch)")
        try promise(barrier.position > head, "a barrier is at \(barrier.position), and the log ends at \(head)")
        epoch = barrier.epoch
        head = barrier.position
        rows.insert(head)
    }

    /// Checks a row that was written.
    mutating func land(_ row: LogRow) throws {
        try promise(row.epoch == epoch, "a row of epoch \(row.epoch) lands, and the log's epoch is \(epoch)")
        try promise(
            row.previous == head && row.first > head,
            "the row at \(row.first) follows \(row.previous), and the log ends at \(head)")
        head = row.last
        rows.insert(row.first)
        var found: [(LogRecord, Recorded)] = []
        var kicks: [LogRecord] = []
        try BatchRows.read(row) { record in
            if case .kick = record.content { kicks.append(record) }
            if let recorded = Recorded(record, row) { found.append((record, recorded)) }
            return true
        }
        for (record, recorded) in found { try land(record, recorded) }
        for kick in kicks { try land(kick: kick) }
    }

    private mutating func land(_ record: LogRecord, _ recorded: Recorded) throws {
        guard let id = recorded.id else { return }
        if let definition = recorded.definition { bases[record.position] = (id, definition) }
        guard let type = recorded.event.type else { return try land(state: record, recorded, id) }
        try promise(
            record.position > shownThrough,
            "\(type.name) of \(id) comes at \(record.position), and a stream was shown all up to \(shownThrough)")
        events.append(LogAudit.Event(position: record.position, id: id, type: type))
        if type.isDelivery { return }
        let before = timers[id]?.last?.state
        try lives.follow(id, type, record)
        if type == .fired {
            fires += 1
            try promise(
                record.progress.fireCount == (before?.progress.fireCount ?? 0) + 1,
                "fire \(record.progress.fireCount) of \(id) follows fire \(before?.progress.fireCount ?? 0)")
        }
        let definition = recorded.definition ?? before?.definition ?? []
        var state: HeldTimer?
        if type != .deleted {
            state = HeldTimer(progress: record.progress, kicks: record.kicks, definition: definition)
        }
        timers[id, default: []].append(
            Version(position: record.position, number: record.progress.version, state: state))
    }

    /// Checks a change that no stream shows.
    private mutating func land(state record: LogRecord, _ recorded: Recorded, _ id: String) throws {
        guard recorded.isState, recorded.delivery == nil, let before = timers[id]?.last?.state,
            let definition = recorded.definition, record.progress.version > before.progress.version
        else { throw BrokenPromise("nobody asked for \(recorded)") }
        let state = HeldTimer(progress: record.progress, kicks: record.kicks, definition: definition)
        timers[id, default: []].append(
            Version(position: record.position, number: record.progress.version, state: state))
    }

    private mutating func land(kick: LogRecord) throws {
        guard case .kick(_, let base) = kick.content, let (id, definition) = bases[base], var versions = timers[id]
        else { throw BrokenPromise("a kick of no timer at \(kick.position)") }
        // The kicks of a batch are stored after its other records, and may have come before them.
        var index = versions.count
        while index > 0, versions[index - 1].number > kick.progress.version { index -= 1 }
        let position = index < versions.count ? versions[index].position : kick.position
        let state = HeldTimer(progress: kick.progress, kicks: kick.kicks, definition: definition)
        versions.insert(Version(position: position, number: kick.progress.version, state: state), at: index)
        timers[id] = versions
    }

    /// Returns the number of the newest of a timer's versions that an answer reflects, counted from 1, and 0 where
    /// there was none.
    ///
    /// - Throws: where the log has no such state.
    func index(of answer: ClusterProcess.Answer) throws(BrokenPromise) -> Int {
        let versions = timers[answer.id] ?? []
        guard let shown = answer.shown else {
            let count = versions.prefix { $0.position <= answer.position }.count
            try promise(
                count == 0 || versions[count - 1].state == nil, "\(answer.id) is told to be gone, and it is there")
            return count
        }
        let index = versions.lastIndex { $0.state?.progress.version == shown.progress.version }
        guard let index else { throw BrokenPromise("\(answer.id) is shown as \(shown), which is not in the log") }
        try promise(versions[index].state == shown, "\(answer.id) is shown as \(shown), not \(versions[index])")
        return index + 1
    }

    /// The timers of the log as they are now.
    var held: [String: HeldTimer] { timers.compactMapValues { $0.last?.state } }
}
