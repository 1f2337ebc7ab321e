import TimerCore
import TimerLog
import TimerService
import WireJSON

/// Carries operations out under the engine's lock, each within a bounded step.
struct Executor {
    let service: TimerService

    /// The most times that a change is computed again because the timer has changed meanwhile.
    private static let mostAttempts = 1000

    /// Takes one step of a ticket. Returns whether the step set its outcome: a final one, or one
    /// that needs the store first.
    func step(_ ticket: Ticket, _ turn: borrowing Turn) -> Bool {
        do throws(ServiceError) {
            if let request = ticket.idempotency, !ticket.isUnderWay {
                guard try begin(ticket, request, turn) else { return true }
            }
            guard try performKept(ticket, turn) else { return false }
        } catch {
            ticket.rest(on: refusedWait(ticket, error, turn))
            var problem = Problem(error, timer: ticket.parameter)
            // The id belongs to no timer: its creation was refused.
            if case .create = ticket.operation, error != .refused(.exists) { problem.timer = nil }
            if let current = problem.current {
                problem.detail = Conditions.fault(of: ticket, at: current) ?? problem.detail
            }
            if ticket.mayBePartlyApplied { problem.markPartlyApplied() }
            if ticket.principal.isKickOnly { problem.hideState() }
            ticket.outcome = .problem(problem)
        }
        if ticket.isUnderWay && !ticket.outcome.needsStore { closeKey(of: ticket, turn) }
        return true
    }

    /// Returns the position that the answer of a refused command rests on: the timer's last record, or the newest of
    /// all if there is no such timer; 0 if the error is about the server.
    private func refusedWait(_ ticket: Ticket, _ error: ServiceError, _ turn: borrowing Turn) -> Int64 {
        guard case .refused = error else { return 0 }
        guard let key = key(of: ticket.operation), let slot = turn.find(key) else { return turn.head }
        return turn.read { (scheduler: borrowing Scheduler) in scheduler.lastRecord(slot) }
    }

    private func key(of operation: Operation) -> TimerKey? {
        switch operation {
        case .create(let key), .put(let key, _, _), .readForPut(let key, _, _), .replace(let key, _, _, _),
            .readForPatch(let key, _), .amend(let key, _, _), .command(_, let key, _, _), .delete(let key, _),
            .get(let key), .next(let key, _), .testWebhook(let key):
            key
        case .declare(let declaration, _): declaration.key
        default: nil
        }
    }

    func perform(_ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) -> Bool {
        switch ticket.operation {
        case .none:
            return true
        case .fail(let problem, let key):
            try fail(problem, unlessMissing: key, ticket, turn)
        case .create(let key):
            show(try turn.create(key, definition: &ticket.definition), status: 201, ticket, turn)
        case .put(let key, let condition, let unless):
            let (slot, isNew) = try turn.put(key, definition: &ticket.definition, if: condition, unless: unless)
            show(slot, status: isNew ? 201 : 200, ticket, turn)
        case .readForPut(let key, _, _):
            return try readForPut(key, ticket, turn)
        case .replace(let key, let basis, let condition, let unless):
            guard
                let (slot, isNew) = try turn.replace(
                    key, basis: basis, definition: &ticket.definition, if: condition, unless: unless)
            else {
                ticket.operation = .readForPut(key, condition, unless: unless)
                return try readForPut(key, ticket, turn)
            }
            show(slot, status: isNew ? 201 : 200, ticket, turn)
        case .declare(let declaration, let isDry): try declare(declaration, isDry: isDry, ticket, turn)
        case .readForPatch(let key, let condition):
            return try readForPatch(key, condition, ticket, turn)
        case .amend(let key, let basis, let condition):
            guard let slot = try turn.amend(key, basis: basis, definition: &ticket.definition, if: condition) else {
                ticket.operation = .readForPatch(key, condition)
                return try readForPatch(key, condition, ticket, turn)
            }
            show(slot, status: 200, ticket, turn)
        case .command(let command, let key, let target, let condition):
            show(try turn.apply(command, key, target: target, if: condition), status: 200, ticket, turn)
        case .delete(let key, let condition):
            try turn.delete(key, if: condition)
            ticket.rest(on: turn.head)
            ticket.outcome = .noContent
        case .get(let key):
            guard let slot = turn.find(key) else { throw .refused(.notFound) }
            show(slot, status: 200, ticket, turn)
        case .next(let key, let query):
            try next(key, query, ticket, turn)
            return false
        case .preview(let rules, let query):
            ticket.operation = .upcoming(try turn.preview(rules, count: query.count), isDescribed: query.isDescribed)
            return false
        case .upcoming(let fires, let isDescribed):
            guard fires.isDone else { return false }
            ticket.outcome = .fires(fires, isDescribed: isDescribed)
        case .list(let run):
            let isDone = run.step(turn)
            ticket.rest(on: turn.head)
            guard isDone else { return false }
            ticket.outcome = .list(run)
        case .due(let run): return count(run, ticket, turn)
        case .testWebhook(let key): try readForTest(key, ticket, turn)
        case .batch(let run):
            return try perform(run, ticket, turn)
        case .bulk(let run): return try perform(run, ticket, turn)
        case .deliveries(let operation): return try perform(operation, ticket, turn)
        case .drain, .importPart, .importState: return try move(ticket, turn)
        case .keys(let request): try perform(request, ticket, turn)
        case .calendars(let request): try perform(request, ticket, turn)
        case .stream(let plan): try open(plan, ticket, turn)
        case .subscribe(let plan): try subscribe(plan, ticket, turn)
        }
        return true
    }

    private func perform(
        _ run: BulkRun, _ ticket: Ticket, _ turn: borrowing Turn
    ) throws(ServiceError) -> Bool {
        defer { ticket.mayBePartlyApplied = run.counts.changed > 0 }
        let isDone = try run.step(turn)
        ticket.rest(on: turn.head)
        guard isDone else { return false }
        ticket.outcome = .bulk(run.counts)
        return true
    }

    private func fail(
        _ problem: Problem, unlessMissing key: TimerKey?, _ ticket: Ticket, _ turn: borrowing Turn
    ) throws(ServiceError) {
        ticket.outcome = .problem(problem)
        guard let key else { return }
        guard let slot = turn.find(key) else {
            // The events that are kept of a deleted timer can be streamed.
            let last = turn.read { (scheduler: borrowing Scheduler) in scheduler.lastEvent(ofDeleted: key) }
            if ticket.route == .timerEvents, last != nil { return }
            ticket.operation = .get(key)
            throw .refused(.notFound)
        }
        ticket.rest(on: turn.read { (scheduler: borrowing Scheduler) in scheduler.lastRecord(slot) })
    }

    private func declare(
        _ declaration: Declaration, isDry: Bool, _ ticket: Ticket, _ turn: borrowing Turn
    ) throws(ServiceError) {
        switch isDry ? try declaration.differences(turn) : try declaration.apply(turn) {
        case .timer(let slot, let isNew):
            return show(slot, status: isNew ? 201 : 200, ticket, turn)
        case .differences(let differences): ticket.outcome = .differences(differences)
        case .problem(let problem): ticket.outcome = .problem(problem)
        }
        let slot = turn.find(declaration.key)
        ticket.rest(on: slot.map { slot in turn.read { $0.lastRecord(slot) } } ?? turn.head)
    }

    private func show(_ slot: SlotIndex, status: Int, _ ticket: Ticket, _ turn: borrowing Turn) {
        turn.copy(slot, into: &ticket.view)
        ticket.rest(on: ticket.view.position)
        ticket.outcome = .timer(status: status)
    }

    /// Copies the timer, if it exists, so that its replacement can be computed outside of the lock.
    private func readForPut(
        _ key: TimerKey, _ ticket: Ticket, _ turn: borrowing Turn
    ) throws(ServiceError) -> Bool {
        ticket.attempts += 1
        guard ticket.attempts <= Self.mostAttempts else { throw .overloaded }
        if let slot = turn.find(key) {
            turn.copy(slot, into: &ticket.view)
        } else {
            ticket.view = TimerView()
            ticket.view.position = turn.head
        }
        return false
    }

    /// Copies the timer, so that the patch can be computed outside of the lock.
    private func readForPatch(
        _ key: TimerKey, _ condition: VersionCondition, _ ticket: Ticket, _ turn: borrowing Turn
    ) throws(ServiceError) -> Bool {
        guard let slot = turn.find(key) else { throw .refused(.notFound) }
        ticket.attempts += 1
        guard ticket.attempts <= Self.mostAttempts else { throw .overloaded }
        turn.copy(slot, into: &ticket.view)
        return false
    }

    /// Computes what the next step needs, outside of the lock.
    func prepare(_ ticket: Ticket, makeID: () -> [UInt8]) {
        switch ticket.operation {
        case .readForPatch(let key, let condition) where ticket.attempts > 0:
            do throws(Problem) {
                ticket.definition = try webhookRule(ticket).checked(
                    MergePatch.definition(ticket.view, ticket.document, zones: service.zones),
                    over: ticket.view.definition)
                ticket.operation = .amend(key, basis: ticket.view.progress.version, condition)
            } catch {
                ticket.operation = .fail(error, unlessMissing: key)
            }
        case .readForPut(let key, let condition, let unless) where ticket.attempts > 0:
            do throws(Problem) {
                let body = try TimerBody(ticket.document, zones: service.zones)
                ticket.definition = try webhookRule(ticket).checked(
                    body.definition(id: ticket.parameter, replacing: ticket.view.definition),
                    over: ticket.view.definition)
                ticket.operation = .replace(key, basis: ticket.view.progress.version, condition, unless: unless)
            } catch {
                // The problem does not depend on whether the timer exists: PUT may create it.
                ticket.rest(on: ticket.view.position)
                ticket.operation = .fail(error, unlessMissing: nil)
            }
        case .upcoming(var fires, let isDescribed):
            ticket.operation = .none
            fires.step()
            ticket.operation = .upcoming(fires, isDescribed: isDescribed)
        case .batch(let run):
            run.prepare(makeID, requestID: ticket.requestID)
        case .importPart(let run):
            run.prepare()
        default:
            break
        }
    }

    private func webhookRule(_ ticket: Ticket) -> WebhookRule {
        WebhookRule(ticket.principal) { service.signsByDefault }
    }

    private func perform(
        _ run: BatchRun, _ ticket: Ticket, _ turn: borrowing Turn
    ) throws(ServiceError) -> Bool {
        defer {
            ticket.rest(on: turn.head)
            ticket.mayBePartlyApplied = run.hasBegun
        }
        try run.apply(turn)
        guard run.isApplied else { return false }
        ticket.outcome = .batch(run)
        return true
    }

    private func next(
        _ key: TimerKey, _ query: FiresQuery, _ ticket: Ticket, _ turn: borrowing Turn
    ) throws(ServiceError) {
        guard let slot = turn.find(key) else { throw .refused(.notFound) }
        let now = turn.now
        let (fires, position) = turn.read { (scheduler: borrowing Scheduler) in
            (scheduler.upcoming(slot, now, count: query.count), scheduler.lastRecord(slot))
        }
        ticket.rest(on: position)
        ticket.operation = .upcoming(fires, isDescribed: query.isDescribed)
    }

    /// Reads the timer whose webhook is to be tested.
    func readForTest(_ key: TimerKey, _ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) {
        try turn.checkAvailable()
        guard let slot = turn.find(key) else { throw .refused(.notFound) }
        turn.copy(slot, into: &ticket.view)
        ticket.rest(on: ticket.view.position)
        ticket.outcome = .webhookTest
    }

    /// Plans the position from which a stream begins.
    private func open(_ plan: StreamPlan, _ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) {
        var plan = plan
        plan.head = EventID(turn.head)
        ticket.rest(on: turn.head)
        var canFire = true
        if let key = plan.filter.timer, let slot = turn.find(key) {
            let (newest, state, rules, isWanted) = turn.read { (scheduler: borrowing Scheduler) in
                (
                    scheduler.lastEvent(slot), scheduler.progress(slot).state, scheduler.rules(slot),
                    scheduler.wantsSubscriber(slot)
                )
            }
            plan.newestOfTimer = newest
            plan.isRestartable = rules.restartable
            canFire = !state.hasEnded || rules.restartable
            plan.mustSubscribe = plan.isSubscription && isWanted
        } else if let key = plan.filter.timer {
            try open(&plan, ofDeleted: key, turn)
        }
        plan.cursor = StreamCursor(behind: min(plan.since ?? plan.head, plan.head))
        if !plan.follows || (plan.timeout != nil && !canFire) {
            plan.end = plan.filter.timer == nil ? plan.head.position : plan.newestOfTimer
        }
        ticket.outcome = .stream(plan)
    }

    /// Plans a stream that shows the kept events of a deleted timer, and ends. A long poll is refused: there is no
    /// such timer.
    private func open(
        _ plan: inout StreamPlan, ofDeleted key: TimerKey, _ turn: borrowing Turn
    ) throws(ServiceError) {
        let last = turn.read { (scheduler: borrowing Scheduler) in scheduler.lastEvent(ofDeleted: key) }
        guard let last, plan.timeout == nil else { throw .refused(.notFound) }
        plan.isOfDeleted = true
        plan.newestOfTimer = last
        plan.needsEvent = plan.follows
        plan.follows = false
        plan.isSubscription = false
        plan.since = plan.since ?? .beginning
    }

    /// Starts the timer that waits for this stream, unless another subscriber was first.
    private func subscribe(_ plan: StreamPlan, _ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) {
        guard let key = plan.filter.timer, let slot = turn.find(key) else { throw .refused(.notFound) }
        var plan = plan
        plan.mustSubscribe = false
        let head = turn.head
        try turn.subscribe(key, slot)
        if turn.head != head {
            plan.subscribedAt = turn.head
            ticket.hasActivated = true
            if plan.since == nil {
                // The stream begins here: its first event is the one that its subscription caused.
                plan.head = EventID(head)
                plan.cursor = StreamCursor(head)
            }
        }
        ticket.rest(on: turn.head)
        ticket.outcome = .stream(plan)
    }
}

/// Operations on deliveries.
extension Executor {
    /// Takes one step. Returns whether the step set the ticket's outcome: a final one, or one that
    /// needs the store first.
    func perform(
        _ operation: DeliveryOperation, _ ticket: Ticket, _ turn: borrowing Turn
    ) throws(ServiceError) -> Bool {
        let outcome: Outcome?
        switch operation {
        case .fail(let problem, let id):
            outcome = .problem(turn.delivery(id.position) == nil ? .noDelivery : problem)
        case .one(let run):
            outcome = try run.step(turn)
        case .list(let run):
            outcome = Self.outcome(of: run.step(turn), .deliveries(run))
        case .redrive(let run):
            defer { ticket.mayBePartlyApplied = !run.isDry && run.counts.changed > 0 }
            outcome = Self.outcome(of: try run.step(turn), .bulk(run.counts))
        }
        ticket.rest(on: turn.head)
        guard let outcome else { return false }
        ticket.outcome = outcome
        return true
    }

    private static func outcome(of step: DeliveryStep, _ end: @autoclosure () -> Outcome) -> Outcome? {
        switch step {
        case .more: nil
        case .needsEvents(let reading): .needsEvents(reading)
        case .done: end()
        }
    }
}

/// Drains and imports.
extension Executor {
    func move(_ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) -> Bool {
        defer { ticket.rest(on: turn.head) }
        switch ticket.operation {
        case .drain(let isDrained):
            try turn.setDrained(isDrained)
            ticket.outcome = Self.drained(isDrained, attemptsUnderWay: turn.attemptsUnderWay)
        case .importPart(let run):
            defer { ticket.mayBePartlyApplied = run.hasChanged }
            // The part can't go on after lines that were lost.
            if turn.isLost(ticket.rests) { throw .storageUnavailable }
            guard try run.step(turn) else { return false }
            ticket.outcome = run.problem.map { .problem($0) } ?? run.outcome
        case .importState(let state):
            ticket.outcome = state.outcome(turn.importProgress(of: state.export))
        default: break
        }
        return true
    }

    /// Returns the answer of a drain.
    private static func drained(_ isDrained: Bool, attemptsUnderWay: Int) -> Outcome {
        return .object { json in
            json.member("drained", isDrained)
            json.member("attemptsUnderWay", Int64(attemptsUnderWay))
        }
    }
}
