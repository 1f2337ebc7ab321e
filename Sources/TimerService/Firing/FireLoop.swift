import Platform
import Synchronization
import TimerCore

/// The thread that fires what is due: it takes bounded steps of the engine, then sleeps until the alarm.
final class FireLoop: Worker {
    let name = "fire"
    private let alarm: any Alarm
    private let heart: Heartbeat
    private let stopping = Atomic<Bool>(false)
    /// The longest sleep, in milliseconds, while what the loop waits for may come without the alarm: the log, or its storage.
    private static let longestSleep: Int32 = 1000
    /// The longest rest, in milliseconds: a sleep while the alarm tells of all that the loop waits for.
    private static let longestRest: Int64 = 10_000
    /// The sleep while too many records wait for the disk, or sockets are still to be read, in milliseconds.
    private static let backpressureSleep: Int32 = 1

    private let log: Published<ActiveLog?>
    private let report: @Sendable (ServiceEvent) -> Void

    init(
        _ log: Published<ActiveLog?>, _ alarm: any Alarm, heart: Heartbeat,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.log = log
        self.alarm = alarm
        self.heart = heart
        self.report = report
    }

    /// Plans again, before anything fires, the timers whose zones' data have changed since the log was written.
    func prepare() {
        let replanned = log.value?.engine.replanZoned { heart.beat() } ?? 0
        if replanned > 0 { report(.timeZonesChanged(timers: replanned)) }
    }

    /// Fires timers until `stop`. The body of the fire loop's thread.
    func run() {
        while !stopping.load(ordering: .acquiring) {
            switch step() {
            case .done: alarm.wait(milliseconds: Self.longestSleep)
            case .resting(let instant): rest(until: instant)
            case .more: log.value?.engine.yieldLock(naps: Lock.mostNaps)
            case .held: alarm.wait(milliseconds: Self.backpressureSleep)
            }
        }
    }

    /// Takes a step of the engine, where this process owns the log.
    func step() -> Engine.FireStep {
        heart.beat()
        return log.value?.engine.fire() ?? .done
    }

    /// Rests until something is due soon, at `instant` in nanoseconds since boot. No alarm tells of a calendar that is slowed
    /// down or sped up, so the loop reads the clocks each second before an instant of the calendar.
    private func rest(until instant: Int64) {
        let left = (instant - Clocks.boottime()) / 1_000_000 - 2 * Int64(Self.longestSleep)
        guard alarm.seesCalendarSteps, left > 0 else { return alarm.wait(milliseconds: Self.longestSleep) }
        let rest = min(left, Self.longestRest)
        heart.rest(until: Clocks.monotonic() + rest * 1_000_000)
        alarm.wait(milliseconds: Int32(rest))
    }

    func stop() {
        stopping.store(true, ordering: .releasing)
        alarm.ring()
    }
}

/// The check of plans against the data of time zones, before anything fires.
extension Engine {
    /// Replans, in bounded steps, the timers whose zone's data have changed since the log was written, and returns
    /// how many there were. Ends early where no changes are taken, as when storage fails: the fire loop checks the
    /// rest when changes are taken again.
    ///
    /// - Parameter moved: called after each step.
    func replanZoned(moved: () -> Void = {}) -> Int {
        var replanned = 0
        var isDone = false
        while !isDone {
            lock.withLock {
                while isFull && availability == .open {
                    _ = lock.wait(nanoseconds: Engine.roomPause)
                }
                guard availability == .open else { return isDone = true }
                let now = instant()
                let step = replanStep(now)
                replanned += step.replanned
                isDone = step.isDone
                afterChanges(now)
            }
            moved()
        }
        return replanned
    }

    /// Takes one bounded step of `replanZoned`. Returns how many timers were planned again, and whether every plan
    /// has been checked.
    func replanStep(_ now: Now) -> (replanned: Int, isDone: Bool) {
        guard staleCalendars.isEmpty || renewCalendars(now) else { return (0, false) }
        if unchecked.isEmpty { return (0, true) }
        let step = unchecked.prefix(EngineConfiguration.stepLimit)
        unchecked = unchecked.dropFirst(step.count)
        if unchecked.isEmpty { unchecked = [] }
        let replanned = scheduler.replanZoned(step, now, &effects)
        record()
        return (replanned, unchecked.isEmpty)
    }

    /// Records the calendars whose zone's data have changed, so that their timers are planned again. Returns false after
    /// a step of planning by the earlier editions, which comes before it.
    private func renewCalendars(_ now: Now) -> Bool {
        let isPlanned = scheduler.continueReplanning(limit: EngineConfiguration.stepLimit, now, &effects)
        record()
        guard isPlanned else { return false }
        for name in staleCalendars {
            if let present = calendars[name], let rezoned = scheduler.rezoned(present, now) { record(rezoned) }
        }
        staleCalendars = []
        return true
    }

    /// The pause between two checks whether there is room for more records, in nanoseconds. It is named by
    /// `Engine`, as a closure that says `Self` reads the object outside of the lock, which ThreadSanitizer takes
    /// for a race with a change of what the object holds.
    private static let roomPause: Int64 = 10_000_000
}

extension Engine {
    /// The result of a step of the fire loop.
    public enum FireStep: Sendable, Equatable {
        /// Nothing more is due now. What comes next may come without the alarm.
        case done
        /// Nothing more is due before `instant`, in nanoseconds since boot, for which the alarm is armed; `Int64.max` for
        /// never.
        case resting(until: Int64)
        /// More is due: call again.
        case more
        /// Too many records wait for the disk: call again soon.
        case held

        /// Whether nothing more is due now.
        public var isDone: Bool {
            switch self {
            case .done, .resting: true
            case .more, .held: false
            }
        }
    }
}

/// The plan of the fire loop's next wake-up, and the record of whether it stood still. Instants are elapsed
/// nanoseconds.
struct FirePacer {
    /// The instant that the alarm is armed for; `Int64.max` for none.
    private(set) var armedFor = Int64.max
    /// The fire loop's last sign of life.
    private var lastBeat: Int64 = 0
    /// Whether the fire loop is between two steps of one wake-up.
    private var isAdvancing = false
    /// Whether the fire loop may sleep until the alarm, without reading the clocks.
    private var isResting = false

    /// The longest stand-still, in nanoseconds, that makes no misfires of the timers that came due in it.
    static let stallThreshold: Int64 = 1_000_000_000

    /// Plans a wake-up at `wake`. Returns whether the alarm is to be armed for that, as it is armed for nothing as
    /// early.
    mutating func plan(_ wake: Int64) -> Bool {
        guard wake < armedFor else { return false }
        armedFor = wake
        return true
    }

    /// Forgets the instant that the alarm is armed for, unless it is overdue at `now`: from an overdue wake-up the
    /// fire loop learns that it stood still.
    mutating func replan(at now: Int64) { if armedFor > now { armedFor = .max } }

    /// The instant from which the loop is late, if it has not moved; `Int64.max` for none.
    private var expected: Int64 { max(armedFor, lastBeat) }

    /// Whether the loop, which wakes at `now`, stood still before.
    func wasStalled(until now: Int64) -> Bool { expected != .max && now - expected > Self.stallThreshold }

    /// Notes that the loop moves.
    mutating func beat(at now: Int64) {
        lastBeat = now
        isResting = false
    }

    /// Notes that the loop may sleep until the alarm.
    mutating func rest() { isResting = true }

    /// Ends the rest. Returns whether the loop is to be woken for that.
    mutating func endRest() -> Bool {
        defer { isResting = false }
        return isResting
    }

    /// Notes a step of the loop.
    ///
    /// - Returns: whether the step was the first of a wake-up, and fired something.
    mutating func step(fired: Bool, isDone: Bool) -> Bool {
        defer { isAdvancing = !isDone }
        return fired && !isAdvancing
    }

    /// Notes whether the loop is done until the next wake-up; if not, the rest stays due at `now`.
    mutating func finish(isDone: Bool, at now: Int64) { armedFor = isDone ? .max : now }

    /// Restarts with the next wake-up at `wake`: overdue timers waited for the disk, or for the server's start, so
    /// the loop counts as having stood still.
    mutating func restart(wake: Int64?) {
        armedFor = wake ?? .max
        lastBeat = 0
    }
}
