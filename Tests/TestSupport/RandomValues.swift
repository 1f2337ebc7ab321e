package import TimerCore

extension TimerRules {
    /// Rules of any shape whose timers fire within seconds.
    package static func random(_ generator: inout SeededGenerator, wall: Int64) -> TimerRules {
        let near = Int64.random(in: 0...5000, using: &generator)
        let period = Int64.random(in: 1...3000, using: &generator)
        let schedules: [Schedule] = [
            .after(near), .at(wall + near), .every(period, first: .period), .every(period, first: .after(near)),
            .every(period, first: .at(wall - near)), .watchdog(period),
        ]
        var rules = TimerRules(schedules.randomElement(using: &generator) ?? .after(near))
        if !rules.schedule.isCalendar {
            rules.clock = TimerClock.withoutCalendar.randomElement(using: &generator) ?? .wall
        }
        rules.mode = RepeatMode.allCases.randomElement(using: &generator) ?? .fixedRate
        rules.start = generator.chance(oneIn: 4) ? .manual : .now
        if rules.schedule.kind == .watchdog {
            rules.misses = Int64.random(in: 1...3, using: &generator)
            rules.repeatAlarm = generator.chance(oneIn: 2)
        } else {
            rules.onResume = ResumePolicy.allCases.randomElement(using: &generator) ?? .remaining
            rules.misfire = MisfirePolicy.allCases.randomElement(using: &generator) ?? .once
            if generator.chance(oneIn: 4) { rules.misfireGrace = near }
        }
        if generator.chance(oneIn: 4) { rules.leeway = Int64.random(in: 0...500, using: &generator) }
        if generator.chance(oneIn: 4) { rules.jitter = Int64.random(in: 0...500, using: &generator) }
        rules.restartable = generator.chance(oneIn: 2)
        if generator.chance(oneIn: 3) { rules.maxFires = Int64.random(in: 1...4, using: &generator) }
        if generator.chance(oneIn: 5) { rules.until = wall + 60_000 }
        if generator.chance(oneIn: 3) { rules.retain = Int64.random(in: 0...4000, using: &generator) }
        return rules
    }
}

extension TimerProgress {
    /// Any progress, with numbers of every size; instants stay where their differences are in range.
    package static func random(_ generator: inout SeededGenerator) -> TimerProgress {
        var progress = TimerProgress()
        progress.state = TimerState.allCases.randomElement(using: &generator) ?? .idle
        progress.flags = TimerProgress.Flags(rawValue: UInt8.random(in: 0...15, using: &generator))
        progress.version = generator.number()
        if progress.version % 3 == 0 { progress.edition = UInt8(truncatingIfNeeded: progress.version) }
        progress.updatedAt = generator.number() / 4
        progress.due = generator.number()
        progress.lastFiredAt = generator.chance(oneIn: 3) ? 0 : generator.number() / 4
        progress.fireCount = generator.number()
        progress.missedCount = generator.number()
        progress.firesSinceActivation = generator.number()
        return progress
    }
}

extension KickProgress {
    /// Any progress of a watchdog; instants stay where their differences are in range.
    package static func random(_ generator: inout SeededGenerator) -> KickProgress {
        var kicks = KickProgress()
        kicks.silentSince = generator.chance(oneIn: 3) ? 0 : generator.number() / 4
        kicks.kickCount = generator.number()
        kicks.stalledSince = generator.chance(oneIn: 3) ? 0 : generator.number() / 4
        return kicks
    }
}
