import TimerCore
import TimerService

/// A timer in a scheduler of its own, which must fire when its preview says.
final class PreviewedTimer {
    private var scheduler: Scheduler
    private var now = Now(elapsed: 3_600_000_000_000, wallOffset: 1_795_251_600_000)
    private let slot: SlotIndex
    private let rules: TimerRules
    private let fires: [Int64]

    /// The number of fires that are previewed and awaited.
    private static let count = 5

    /// Makes the timer; nil where its schedule can't work now.
    init?(_ id: [UInt8], _ definition: [UInt8]) {
        var scheduler = Scheduler(secret: [UInt8](repeating: 7, count: 16), zones: hostZones)
        let key = TimerKey(id: id.span, siphash: scheduler.siphash)
        var definition = definition
        var effects: [Effect] = []
        guard let rules = Definition.layout(definition.span)?.rules,
            let slot = try? scheduler.create(key, definition: &definition, now, &effects)
        else { return nil }
        scheduler.finishStep()
        guard let fires = try? scheduler.preview(rules, now, count: Self.count).all() else {
            fatalError("broken: a timer was made whose schedule can't work")
        }
        require(fires.count <= rules.maxFires ?? .max, "\(fires) are more than `maxFires`")
        require(zip(fires, fires.dropFirst()).allSatisfy { $0 < $1 }, "\(fires) do not ascend")
        require(fires.allSatisfy { $0 <= rules.until ?? .max }, "\(fires) are past `until`")
        let isRunning = scheduler.progress(slot).state == .running
        let upcoming = scheduler.upcoming(slot, now, count: Self.count).all()
        require(upcoming == (isRunning ? fires : []), "\(upcoming) come where \(fires) were foretold")
        self.scheduler = scheduler
        self.slot = slot
        self.rules = rules
        self.fires = fires
    }

    /// The timer as it is.
    var view: TimerView {
        var view = TimerView()
        view.progress = scheduler.progress(slot)
        view.kicks = scheduler.kicks(slot)
        view.definition = scheduler.withDefinition(slot) { definition in definition.indices.map { definition[$0] } }
        view.now = now
        return view
    }

    /// Advances time from waking to waking, and requires the previewed fires.
    func run() {
        // A watchdog's fires are not known in advance, nor are the instants of a schedule that counts from its
        // fires.
        guard rules.schedule.kind != .watchdog, rules.mode == .fixedRate, rules.start == .now else { return }
        var seen: [Int64] = []
        for _ in 0..<100 where seen.count < fires.count {
            guard let wake = scheduler.nextWake(now) else { break }
            // The clock of the machine ends in the year 2262.
            guard wake < .max / 2 else { return }
            now.elapsed = max(now.elapsed, wake)
            var effects: [Effect] = []
            _ = scheduler.advance(to: now, limit: 64, &effects)
            for effect in effects where effect.type == .fired {
                guard let fire = effect.fire else { fatalError("broken: a fire without its detail") }
                require(fire.latenessUs >= 0, "\(fire.scheduledAt) fired early")
                require(fire.missed == 0, "\(fire.missed) were missed though nothing stood still")
                seen.append(fire.scheduledAt)
            }
            scheduler.finishStep()
        }
        require(seen.prefix(fires.count) == fires[...], "\(seen) fired where \(fires) were foretold")
    }
}
