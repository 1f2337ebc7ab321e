import TimerCore

/// The bytes of a timer's progress.
///
/// ```
/// state, flags  a byte: state (3 bits; 5 is suspended for want of a subscriber, 6 running by a watchdog's schedule, 7
///               another in the next byte), flags (4 bits), whether a watchdog's part follows (the highest bit)
/// edition       in state 7: the state as otherwise, a byte, and the edition of the timer's calendar, a byte
/// version, due, last fire, fireCount, missedCount, fires since activation    varints
/// silent since, kickCount, stalled since                                     varints, of a watchdog
/// start of the grace, further instants                                       varints, in state 6
/// ```
///
/// The flags of a timer that is no watchdog have other meanings: the bit of `stalled` is `ownGrid`, and beside it
/// the bit of `unplanned` is `readInGap`.
extension RecordCodec {
    private static let stateMask: UInt8 = 7
    /// The state of a timer that is suspended because no stream followed its events. The other states are below five.
    private static let unsubscribedState: UInt8 = 5
    /// The state of a running watchdog that has a schedule: it awaits an instant of that, or the grace counts.
    private static let scheduledState: UInt8 = 6
    /// The state of a timer that goes by a calendar which has changed: its own state and the edition follow.
    private static let editedState: UInt8 = 7
    private static let flagsShift: UInt8 = 3
    private static let flagsMask: UInt8 = 15
    private static let kicksFlag: UInt8 = 0x80

    static func append(
        _ progress: TimerProgress, _ kicks: KickProgress?, at: Int64, to bytes: inout OutputSpan<UInt8>
    ) {
        let isScheduled = isScheduled(progress, kicks)
        let state =
            progress.flags.contains(.unsubscribed)
            ? unsubscribedState : isScheduled ? scheduledState : progress.state.rawValue
        let flags = kicks == nil ? written(progress.flags) : progress.flags
        let isEdited = progress.edition != 0
        let head = (isEdited ? editedState : state) | (flags.rawValue & flagsMask) << flagsShift
        bytes.append(head | (kicks == nil ? 0 : kicksFlag))
        if isEdited {
            bytes.append(state)
            bytes.append(progress.edition)
        }
        ByteCoding.append(signed: progress.version, to: &bytes)
        ByteCoding.append(signed: progress.due &- at, to: &bytes)
        ByteCoding.append(signed: age(of: progress.lastFiredAt, at: at), to: &bytes)
        ByteCoding.append(signed: progress.fireCount, to: &bytes)
        ByteCoding.append(signed: progress.missedCount, to: &bytes)
        ByteCoding.append(signed: progress.firesSinceActivation, to: &bytes)
        guard let kicks else { return }
        ByteCoding.append(signed: age(of: kicks.silentSince, at: at), to: &bytes)
        ByteCoding.append(signed: kicks.kickCount, to: &bytes)
        ByteCoding.append(signed: age(of: kicks.stalledSince, at: at), to: &bytes)
        guard isScheduled else { return }
        let graceFrom = progress.flags.contains(.awaiting) ? 0 : kicks.graceFrom
        ByteCoding.append(signed: age(of: graceFrom, at: at), to: &bytes)
        ByteCoding.append(signed: kicks.sharedGrace, to: &bytes)
    }

    private static func isScheduled(_ progress: TimerProgress, _ kicks: KickProgress?) -> Bool {
        guard let kicks, progress.state == .running else { return false }
        return progress.flags.contains(.awaiting) || kicks.graceFrom != 0
    }

    /// Returns the flags of a timer that is no watchdog as they are written.
    private static func written(_ flags: TimerProgress.Flags) -> TimerProgress.Flags {
        guard flags.contains(.ownGrid) else { return flags }
        let isInGap = flags.contains(.readInGap)
        return flags.union(isInGap ? [.stalled, .unplanned] : .stalled)
    }

    /// Undoes `written`.
    private static func read(_ flags: TimerProgress.Flags) -> TimerProgress.Flags {
        guard flags.contains(.stalled) else { return flags }
        let grid: TimerProgress.Flags = flags.contains(.unplanned) ? [.ownGrid, .readInGap] : .ownGrid
        return flags.subtracting([.stalled, .unplanned]).union(grid)
    }

    /// Appends the wall instant at which the next fire is planned, as its distance from `due`, which is on the
    /// timer's clock, or from `at` where the progress has no such instant yet.
    static func appendNextFire(
        _ instant: Int64?, _ progress: TimerProgress, at: Int64, to bytes: inout OutputSpan<UInt8>
    ) {
        // 0 stands for "none", so a distance that is not negative is written plus one.
        let distance = instant.map { $0 &- (progress.isPlanned ? progress.due : at) }
        ByteCoding.append(signed: distance.map { $0 < 0 ? $0 : $0 &+ 1 } ?? 0, to: &bytes)
    }

    /// Reads what `appendNextFire` wrote into `record`, whose progress and instant are known.
    static func readNextFire(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let distance = ByteCoding.readSigned(bytes, &offset) else { return false }
        let base = record.progress.isPlanned ? record.progress.due : record.at
        record.nextFire = distance == 0 ? .unplanned : .at(base &+ (distance < 0 ? distance : distance &- 1))
        return true
    }

    /// Returns how long ago `instant` was, plus one unless it is ahead: 0 stands for "never".
    private static func age(of instant: Int64, at: Int64) -> Int64 {
        if instant == 0 { return 0 }
        let age = at &- instant
        return age < 0 ? age : age &+ 1
    }

    private static func instant(age: Int64, at: Int64) -> Int64 {
        if age == 0 { return 0 }
        return age < 0 ? at &- age : at &- age &+ 1
    }

    private static func state(_ number: UInt8) -> TimerState? {
        switch number {
        case unsubscribedState: .suspended
        case scheduledState: .running
        default: TimerState(rawValue: number)
        }
    }

    /// Returns the state as it is written after a head, and the edition of the timer's calendar.
    private static func state(
        _ head: UInt8, _ bytes: Span<UInt8>, _ offset: inout Int
    ) -> (written: UInt8, edition: UInt8)? {
        guard head & stateMask == editedState else { return (head & stateMask, 0) }
        guard let state = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }), state < editedState,
            let edition = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }), edition > 0
        else { return nil }
        return (state, edition)
    }

    /// Reads what `append` wrote into `record`, whose instant is known, and moves `offset` past it. Returns false
    /// when the bytes are no progress.
    static func readProgress(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let head = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }),
            let (written, edition) = state(head, bytes, &offset), let state = state(written),
            let version = ByteCoding.readSigned(bytes, &offset), let due = ByteCoding.readSigned(bytes, &offset),
            let sinceFire = ByteCoding.readSigned(bytes, &offset), let fires = ByteCoding.readSigned(bytes, &offset),
            let missed = ByteCoding.readSigned(bytes, &offset),
            let recentFires = ByteCoding.readSigned(bytes, &offset)
        else { return false }
        let at = record.at
        record.progress.state = state
        record.progress.flags = TimerProgress.Flags(rawValue: head >> flagsShift & flagsMask)
        record.progress.edition = edition
        if written == unsubscribedState { record.progress.flags.insert(.unsubscribed) }
        record.progress.version = version
        record.progress.updatedAt = at
        record.progress.due = due &+ at
        record.progress.lastFiredAt = instant(age: sinceFire, at: at)
        record.progress.fireCount = fires
        record.progress.missedCount = missed
        record.progress.firesSinceActivation = recentFires
        let isScheduled = written == scheduledState
        guard head & kicksFlag != 0 else {
            record.progress.flags = read(record.progress.flags)
            return !isScheduled
        }
        guard let silence = ByteCoding.readSigned(bytes, &offset),
            let count = ByteCoding.readSigned(bytes, &offset), let sinceStall = ByteCoding.readSigned(bytes, &offset)
        else { return false }
        var kicks = KickProgress()
        kicks.silentSince = instant(age: silence, at: at)
        kicks.kickCount = count
        kicks.stalledSince = instant(age: sinceStall, at: at)
        if isScheduled {
            guard let sinceGrace = ByteCoding.readSigned(bytes, &offset),
                let shared = ByteCoding.readSigned(bytes, &offset)
            else { return false }
            kicks.graceFrom = instant(age: sinceGrace, at: at)
            kicks.sharedGrace = shared
            if sinceGrace == 0 { record.progress.flags.insert(.awaiting) }
        }
        record.kicks = kicks
        return true
    }
}
