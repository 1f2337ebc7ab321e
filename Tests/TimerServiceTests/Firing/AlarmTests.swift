import Platform
import TestSupport
import Testing

@testable import TimerService

@Suite(.serialized)
struct AlarmTests {
    private static let hour: Int64 = 3_600_000_000_000

    /// Whether a wait without end returns; a wait that does not is ended by a ring.
    private func comesBack(_ alarm: any Alarm, within nanoseconds: Int64 = Patience.nanoseconds) throws -> Bool {
        let wait = Background { alarm.wait(milliseconds: -1) }
        let lock = Lock()
        let end = Clocks.monotonic() + nanoseconds
        while !wait.isDone && Clocks.monotonic() < end { lock.withLock { _ = lock.wait(nanoseconds: 500_000) } }
        let isBack = wait.isDone
        if !isBack { alarm.ring() }
        try wait.finish("a ring ends the wait")
        return isBack
    }

    /// Whether a wait still goes on after a moment. It may miss a waking, but never reports one that did not happen.
    private func goesOn(_ alarm: any Alarm) throws -> Bool { try !comesBack(alarm, within: 30_000_000) }

    @Test(arguments: AlarmKind.allCases)
    func `an alarm that was never armed waits`(_ kind: AlarmKind) throws {
        #expect(try goesOn(kind.make()))
    }

    @Test(arguments: AlarmKind.allCases, [Int64.min, -1, 0, 1, 1_000_000])
    func `armed in the past it wakes at once`(_ kind: AlarmKind, _ instant: Int64) throws {
        let alarm = kind.make()
        alarm.arm(boottime: instant)
        #expect(try comesBack(alarm))
    }

    @Test(arguments: AlarmKind.allCases)
    func `armed for an instant to come it wakes then, not before`(_ kind: AlarmKind) throws {
        let alarm = kind.make()
        let due = Clocks.boottime() + 20_000_000
        alarm.arm(boottime: due)
        #expect(try comesBack(alarm))
        #expect(Clocks.boottime() >= due)
    }

    @Test(arguments: AlarmKind.allCases)
    func `a waking is told once`(_ kind: AlarmKind) throws {
        let alarm = kind.make()
        alarm.arm(boottime: 1)
        #expect(try comesBack(alarm))
        #expect(try goesOn(alarm))
        alarm.arm(boottime: 1)
        #expect(try comesBack(alarm))
    }

    @Test(arguments: AlarmKind.allCases)
    func `a nearer instant replaces a far one, also during a wait`(_ kind: AlarmKind) throws {
        let alarm = kind.make()
        alarm.arm(boottime: Clocks.boottime() + Self.hour)
        #expect(try goesOn(alarm))
        let wait = Background { alarm.wait(milliseconds: -1) }
        alarm.arm(boottime: Clocks.boottime() + 1_000_000)
        try wait.finish("the nearer instant wakes")
    }

    @Test(arguments: AlarmKind.allCases)
    func `a far instant replaces a nearer one`(_ kind: AlarmKind) throws {
        let alarm = kind.make()
        alarm.arm(boottime: Clocks.boottime() + 10_000_000)
        alarm.arm(boottime: Clocks.boottime() + Self.hour)
        #expect(try goesOn(alarm))
    }

    @Test(arguments: AlarmKind.allCases)
    func `disarmed it waits, though its instant has come already`(_ kind: AlarmKind) throws {
        let alarm = kind.make()
        alarm.arm(boottime: 1)
        let lock = Lock()
        // The wake-up surely comes within this time; if it does not, the test shows less.
        lock.withLock { _ = lock.wait(nanoseconds: 20_000_000) }
        alarm.arm(boottime: .max)
        #expect(try goesOn(alarm))
        alarm.arm(boottime: Clocks.boottime() + 5_000_000)
        alarm.arm(boottime: .max)
        #expect(try goesOn(alarm))
    }

    @Test(arguments: AlarmKind.allCases)
    func `a ring wakes from another thread, and counts when it comes first`(_ kind: AlarmKind) throws {
        let alarm = kind.make()
        alarm.arm(boottime: Clocks.boottime() + Self.hour)
        let wait = Background { alarm.wait(milliseconds: -1) }
        alarm.ring()
        try wait.finish("the ring wakes")
        alarm.ring()
        alarm.ring()
        #expect(try comesBack(alarm))
        #expect(try goesOn(alarm))
    }

    @Test(arguments: AlarmKind.allCases, [Int32(0), 1, 20])
    func `a wait with an end ends`(_ kind: AlarmKind, _ milliseconds: Int32) throws {
        let alarm = kind.make()
        alarm.arm(boottime: Clocks.boottime() + Self.hour)
        let waited = Guarded<Int64>(0)
        let wait = Background {
            let start = Clocks.monotonic()
            alarm.wait(milliseconds: milliseconds)
            waited.withLock { $0 = Clocks.monotonic() - start }
        }
        try wait.finish("the wait ends")
        // Nothing else ended the wait.
        #expect(waited.value >= Int64(milliseconds) * 1_000_000)
    }

    @Test(arguments: AlarmKind.allCases)
    func `many threads may arm and ring at once`(_ kind: AlarmKind) throws {
        let alarm = kind.make()
        let threads = (0..<4).map { seed in
            Background {
                var generator = SeededGenerator(seed: UInt64(seed))
                for _ in 0..<500 {
                    let distance = Int64.random(in: -1_000_000...1_000_000, using: &generator)
                    alarm.arm(boottime: generator.chance(oneIn: 5) ? .max : Clocks.boottime() + distance)
                    if generator.chance(oneIn: 10) { alarm.ring() }
                }
            }
        }
        for _ in 0..<200 { alarm.wait(milliseconds: 1) }
        for thread in threads { try thread.finish("the thread ends") }
        alarm.arm(boottime: 1)
        #expect(try comesBack(alarm))
    }

    @Test(arguments: AlarmKind.allCases)
    func `an alarm may be let go of in any state, and goes`(_ kind: AlarmKind) throws {
        for number in 0..<500 {
            weak var gone: (any Alarm)?
            do {
                let alarm = kind.make()
                gone = alarm
                switch number % 5 {
                case 0: break
                case 1: alarm.arm(boottime: 1)
                case 2: alarm.arm(boottime: Clocks.boottime() + Int64(number) * 1000)
                case 3: alarm.arm(boottime: .max)
                default:
                    alarm.arm(boottime: 1)
                    alarm.wait(milliseconds: 1)
                }
            }
            try eventually("it is gone") { gone == nil }
        }
    }
}
