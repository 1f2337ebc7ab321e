import TimerCore

extension Benchmark {
    /// The scheduler with its table and wheel. The effects of each step are stamped, as in the server, and nothing
    /// is written.
    static let core = [
        Benchmark("core.create-idle") { create($0, Sample.rules(.month, start: .manual)) },
        Benchmark("core.create-running") { create($0, Sample.rules(.month)) },
        Benchmark("core.create-working") { create($0, Sample.workingRules) },
        Benchmark("core.suspend-and-resume") { count in
            each(count) { set, index in
                set.apply(.suspend, index)
                set.apply(.resume, index)
            }
        },
        Benchmark("core.cancel") { count in each(count) { set, index in set.apply(.cancel, index) } },
        Benchmark("core.reschedule") { count in
            each(count) { set, index in set.apply(.reschedule, index, target: .after(7_200_000)) }
        },
        Benchmark("core.kick") { count in
            each(count, .watchdog(3_600_000)) { set, index in set.apply(.kick, index) }
        },
        Benchmark("core.find") { find($0, from: 0) },
        Benchmark("core.find-absent") { find($0, from: Benchmark.crowd) },
        Benchmark("core.pass-nothing") { pass($0, eventsEach: 0) },
        Benchmark("core.pass-last-fire") { count in
            pass(count, of: { .after(TimerSet.instant($0)) }, eventsEach: 2)
        },
        Benchmark("core.pass-repeating-fire") { count in
            pass(count, of: { .every(2 * Sample.wheelSlot, first: .after(TimerSet.instant($0))) }, eventsEach: 1)
        },
        Benchmark("core.pass-cancelled") { count in
            pass(count, of: { .after(TimerSet.instant($0)) }, eventsEach: 0) { set in
                for index in 0..<Benchmark.many { set.apply(.cancel, index) }
            }
        },
        Benchmark("core.pass-kicked") { count in
            pass(count, of: { .watchdog(Sample.wheelSlot + TimerSet.instant($0)) }, eventsEach: 0) { set in
                set.skip()
                for index in 0..<Benchmark.many { set.apply(.kick, index) }
            }
        },
    ]

    /// Makes timers beside a crowd of others.
    private static func create(_ count: Int, _ rules: TimerRules) -> Int {
        var set = TimerSet()
        if let office = Sample.office { set.scheduler.set(office) }
        set.crowd()
        for index in 0..<Benchmark.many { set.prepare(index, rules) }
        for index in 0..<count { set.make(index) }
        return set.scheduler.count
    }

    /// Runs `step` on one timer after the other. There is no crowd, as it would make no difference.
    private static func each(
        _ count: Int, _ schedule: Schedule = .month, _ step: (inout TimerSet, Int) -> Void
    ) -> Int {
        var set = TimerSet(Benchmark.many) { _ in schedule }
        for index in 0..<count { step(&set, index) }
        return Int(set.position)
    }

    /// Advances time `count` times, and each time another timer's entry in the wheel comes up: mostly from the
    /// wheel's third level, as the timers are due within 21 seconds.
    ///
    /// - Parameters:
    ///   - schedule: the schedule of each timer; nil for no such timers.
    ///   - eventsEach: how many events each timer makes.
    ///   - prepare: the set-up of the timers, which runs before.
    private static func pass(
        _ count: Int, of schedule: ((Int) -> Schedule)? = nil, eventsEach: Int,
        _ prepare: (inout TimerSet) -> Void = { _ in }
    ) -> Int {
        var set = TimerSet(schedule == nil ? 0 : Benchmark.many, schedule ?? { _ in .month })
        set.crowd()
        prepare(&set)
        let events = set.pass(count)
        require(events == count * eventsEach, "\(events) events, not \(eventsEach) each time")
        return events
    }

    /// Looks timers of a crowd up by their keys, those from number `first` on.
    private static func find(_ count: Int, from first: Int) -> Int {
        var set = TimerSet()
        set.crowd()
        let keys = (0..<Benchmark.many).map { index in
            let id = Sample.id(Benchmark.many + first + index)
            return TimerKey(id: id.span, siphash: set.scheduler.siphash)
        }
        var found = 0
        for index in 0..<count where set.scheduler.find(keys[index]) != nil { found += 1 }
        require(found == (first == 0 ? count : 0), "\(found) timers were found")
        return found
    }
}
