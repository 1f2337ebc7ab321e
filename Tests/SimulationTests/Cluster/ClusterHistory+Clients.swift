import TestSupport
import TimerLog

@testable import TimerCore
@testable import TimerService

/// Requests of clients, and their answers.
extension ClusterHistory {
    /// Sends a random request to any process, and schedules the next one.
    func request() throws {
        // Every fourth second is busy.
        let isBusy = time.now / Self.second % 4 == 0
        schedule(after: random.number(0...(isBusy ? 4000 : 60_000)) * 1000) { [unowned self] in try request() }
        let serving = processes.filter(\.isServing)
        let id = ids.randomElement(using: &random) ?? ""
        let kind = Int.random(in: 0..<20, using: &random)
        // A request to a paused process waits in its socket.
        let asked = random.chance(oneIn: 4) ? processes.filter { !$0.isDead } : serving
        guard let process = asked.randomElement(using: &random) else { return }
        // The request arrives a little later.
        let floor = answered[id] ?? 0
        schedule(after: random.number(0...2 * Self.millisecond), on: process) { [unowned self] in
            try carry(kind, id, floor, process)
        }
    }

    private func carry(_ kind: Int, _ id: String, _ floor: Int, _ process: ClusterProcess) throws {
        guard process.isServing, let log = process.log else {
            tally.refused += 1
            return
        }
        let key = process.key(id)
        let rules = kind < 6 ? makeRules(process) : TimerRules(.after(1000))
        let answer = log.engine.turn { turn -> ClusterProcess.Answer? in
            do throws(ServiceError) {
                try change(kind, id, key, rules, turn)
            } catch .refused {
                // The answer shows the state for which the change was refused.
            } catch {
                return nil
            }
            var answer = ClusterProcess.Answer(position: turn.head, id: id, floor: floor)
            if let slot = turn.find(key) {
                var view = TimerView()
                turn.copy(slot, into: &view)
                answer.position = view.position
                answer.shown = HeldTimer(progress: view.progress, kicks: view.kicks, definition: view.definition)
            }
            return answer
        }
        note("\(process.machine.number): request \(kind) of \(id): \(answer.map { "\($0.position)" } ?? "refused")")
        guard let answer else {
            tally.refused += 1
            return
        }
        process.answers.append(answer)
        schedule(after: random.number(0...Self.millisecond), on: process) { [unowned self] in try resolve(process) }
    }

    private func change(
        _ kind: Int, _ id: String, _ key: borrowing TimerKey, _ rules: TimerRules, _ turn: borrowing Turn
    ) throws(ServiceError) {
        switch kind {
        case 0..<4:
            var definition = RandomRules.definition(id, rules)
            _ = try turn.create(key, definition: &definition)
        case 4, 5:
            var definition = RandomRules.definition(id, rules)
            _ = try turn.put(key, definition: &definition, if: .none, unless: .none)
        case 6: _ = try turn.apply(.activate, key, if: .none)
        case 7: _ = try turn.apply(.suspend, key, if: .none)
        case 8, 9: _ = try turn.apply(.resume, key, if: .none)
        case 10: _ = try turn.apply(.cancel, key, if: .none)
        case 11: _ = try turn.apply(.fire, key, if: .none)
        case 12: _ = try turn.apply(.reschedule, key, target: .after(700), if: .none)
        case 13, 14: _ = try turn.apply(.kick, key, if: .none)
        case 15: try turn.delete(key, if: .none)
        default: return
        }
    }

    private func makeRules(_ process: ClusterProcess) -> TimerRules {
        let wall = process.machine.realtime() / 1_000_000
        var rules: TimerRules
        switch Int.random(in: 0..<8, using: &random) {
        case 0: rules = TimerRules(.after(random.number(1...3000)))
        case 1: rules = TimerRules(.at(wall + random.number(-500...3000)))
        case 2, 3:
            rules = TimerRules(.watchdog(random.number(200...2000)))
            rules.repeatAlarm = random.chance(oneIn: 2)
        default:
            rules = TimerRules(.every(random.number(50...1500), first: .period))
            if random.chance(oneIn: 3) { rules.mode = .fixedDelay }
            rules.misfire = MisfirePolicy.allCases.randomElement(using: &random) ?? .once
        }
        if !rules.schedule.isCalendar {
            rules.clock = TimerClock.withoutCalendar.randomElement(using: &random) ?? .wall
        }
        rules.restartable = random.chance(oneIn: 2)
        if random.chance(oneIn: 5) { rules.maxFires = random.number(1...6) }
        if random.chance(oneIn: 3) { rules.retain = random.number(0...3000) }
        return rules
    }

    /// Sends the answers of a process whose records are durable, and drops those whose records are lost or of
    /// unknown fate.
    func resolve(_ process: ClusterProcess) throws(BrokenPromise) {
        let waiting = process.answers
        process.answers = []
        for answer in waiting {
            let positions = answer.position...answer.position
            switch process.log?.engine.fateOfEarlier(positions) ?? .unknown {
            case .pending: process.answers.append(answer)
            case .lost, .unknown: tally.unknown += 1
            case .durable:
                tally.answered += 1
                let index = try audit.index(of: answer)
                try promise(
                    index >= answer.floor,
                    "version \(index) of \(answer.id) is shown by \(process.machine.number) though version \(answer.floor) was answered before the request"
                )
                answered[answer.id] = max(answered[answer.id] ?? 0, index)
            }
        }
    }
}
