package import HTTPServer
import Platform
import TimerCore
import TimerLog
import TimerService

/// The beginning of streams and long polls: the checks, the timer's history, and the take-over of the connection.
extension TimerHandler {
    /// Begins a stream or a long poll, with its timer's own history first where it begins further back than memory.
    ///
    /// The stream subscribes to a timer that waits for a subscriber in a separate step, after every check that can
    /// refuse the stream, since a request that is refused changes nothing.
    func beginStream(_ plan: StreamPlan, _ ticket: Ticket) {
        if plan.isAdmitted { return open(plan, ticket) }
        let horizon = context.service.horizon
        if plan.isOfDeleted && plan.newestOfTimer <= horizon { return forget(ticket) }
        if let since = plan.since, since > plan.head, since.position >= horizon {
            return expire(plan, "there is no event with this id yet", ticket)
        }
        let isOld = plan.since.map { $0 > .beginning && $0.position < horizon } ?? false
        if isOld && plan.filter.timer == nil { return expire(plan, Self.tooOld, ticket) }
        guard let since = plan.since, since.position > horizon else { return beginHistory(plan, ticket) }
        switch context.service.feed.positionState(of: since.position) {
        case .given: beginHistory(plan, ticket)
        case .lost: expire(plan, Self.neverGiven, ticket)
        case .gone:
            let (serial, inbox) = awaitStore(ticket)
            context.service.replayer.isHeld(since.position) { inbox.post(.idCheck(ticket: serial, $0)) }
        }
    }

    /// Continues a request once it is known whether the log holds the id that the client named.
    func receivedIDCheck(_ result: Result<Bool, StoreError>, _ ticket: Ticket) {
        guard case .stream(let plan) = ticket.outcome else { return }
        switch result {
        case .success(true): beginHistory(plan, ticket)
        case .success(false):
            // The id's row may have been deleted while it was looked for.
            let isOld = plan.since.map { $0.position < context.service.horizon } ?? false
            if isOld && plan.filter.timer != nil { return beginHistory(plan, ticket) }
            expire(plan, isOld ? Self.tooOld : Self.neverGiven, ticket)
        case .failure:
            respond(ticket, with: Problem(.storageUnavailable, "the log can't be read now"))
        }
    }

    private func beginHistory(_ plan: StreamPlan, _ ticket: Ticket) {
        // Memory may hold events of an earlier timer with this id, and a stream from the beginning shows only this
        // timer's. The walk over the timer's events can't begin at one that is not on disk yet (`--durability
        // interval`): then the stream looks through all rows.
        let needsHistory = ticket.exchange.method != .head || plan.needsEvent
        guard let since = plan.since, plan.filter.timer != nil, needsHistory,
            since == .beginning || !context.service.feed.holds(after: since.position),
            let engine = log.value?.engine, plan.newestOfTimer <= engine.durableHead
        else { return open(plan, ticket) }
        let (serial, inbox) = awaitStore(ticket)
        context.service.replayer.history(newest: plan.newestOfTimer, since: since.position) {
            inbox.post(.history(ticket: serial, $0))
        }
    }

    func receivedHistory(_ result: Result<Replayer.History, StoreError>, _ ticket: Ticket) {
        guard case .stream(var plan) = ticket.outcome else { return }
        guard case .success(let history) = result else {
            // The stream is served from memory while storage fails, if memory reaches back far enough.
            if context.service.feed.holds(after: (plan.since ?? .beginning).position) { return open(plan, ticket) }
            return respond(ticket, with: Problem(.storageUnavailable, "the log can't be read now"))
        }
        let since = plan.since ?? .beginning
        if plan.isOfDeleted && history.marks.isEmpty && since.position < plan.newestOfTimer { return forget(ticket) }
        if history.isExpired && since > .beginning { return expire(plan, Self.tooOld, ticket) }
        plan.history = history.marks[...]
        if since == .beginning {
            plan.cursor.advance(to: history.oldest - 1)
        } else if history.isWhole && history.oldest > since.position {
            plan.lifeBegan = history.oldest
            plan.cursor.advance(to: context.service.horizon)
        }
        if history.marks.isEmpty { plan.cursor.advance(to: plan.head.position) }
        open(plan, ticket)
    }

    /// Refuses a stream of a deleted timer none of whose events is kept any more.
    private func forget(_ ticket: Ticket) {
        respond(ticket, with: Problem(ServiceError.refused(.notFound), timer: ticket.parameter))
    }

    private static let neverGiven = "the log holds no record of this id: what was shown under it was lost"
    private static let tooOld = "events that may match came after that id and are no longer kept"

    /// Refuses a stream that can't begin at the id that its client named.
    private func expire(_ plan: StreamPlan, _ detail: String, _ ticket: Ticket) {
        var problem = Problem(.eventsExpired, detail)
        problem.oldest = EventID(context.service.oldestKept)
        problem.newest = plan.head
        respond(ticket, with: problem)
    }

    /// Subscribes the stream to its timer, which waits for a subscriber, in a further step; refuses the stream if
    /// there is no room for it.
    private func subscribe(_ plan: StreamPlan, _ ticket: Ticket) {
        guard context.streamCount < context.configuration.maximumStreams else {
            guard let answer = ticket.answer.take() else { return }
            return refuseStream(answer, .limitReached, ticket)
        }
        var plan = plan
        plan.isAdmitted = true
        ticket.operation = .subscribe(plan)
        takeAgain(ticket)
    }

    /// Looks for an event that a stream of a deleted timer would show.
    private func probe(_ plan: StreamPlan, _ ticket: Ticket) {
        ticket.outcome = .stream(plan)
        reading[ticket.serial] = ticket
        streams.add(plan, .probe(ticket: ticket.serial))
    }

    /// Opens the stream if it has an event to show, and answers 204 otherwise.
    func receivedProbe(hasEvent: Bool, _ ticket: Ticket) {
        guard case .stream(var plan) = ticket.outcome else { return }
        plan.needsEvent = false
        if hasEvent { return open(plan, ticket) }
        ticket.beginResponse()
        ticket.exchange.response.status = 204
        ticket.exchange.response.add("Cache-Control", "no-store")
        ticket.exchange.response.add("Event-Id", plan.head.text)
        send(ticket)
    }

    /// Takes the connection over for the stream or the long poll; a HEAD request is answered with the head only.
    private func open(_ plan: StreamPlan, _ ticket: Ticket) {
        // This server may have lost the log while the store was read for the plan.
        guard log.value != nil else { return sendToOwner(ticket) }
        var plan = plan
        if plan.mustSubscribe && !isDraining { return subscribe(plan, ticket) }
        if plan.history.isEmpty && plan.since == .beginning { plan.cursor.advance(to: context.service.horizon) }
        if plan.needsEvent && !isDraining { return probe(plan, ticket) }
        guard let answer = ticket.answer.take() else { return }
        ticket.beginResponse()
        if ticket.exchange.method == .head {
            fillStreamHead(plan, ticket)
            note(ticket)
            ticket.releaseMemory()
            return answer.sendHead(isStream: plan.timeout == nil)
        }
        if isDraining, let subscribed = plan.subscribedAt {
            // The client must see the change that its subscription caused: the stream ends right after that event.
            plan.end = subscribed
        } else if isDraining {
            ticket.answer = consume answer
            return respond(ticket, with: Problem(ServiceError.shuttingDown, timer: []))
        }
        if plan.timeout == nil {
            fillStreamHead(plan, ticket)
            switch answer.detach() {
            case .stream(let stream):
                stream.filler = plan.format.filler
                note(ticket)
                ticket.outcome = .gone
                streams.add(plan, .stream(stream))
            case .refused(let answer, let reason):
                refuseStream(consume answer, reason, ticket)
            }
        } else {
            switch answer.park() {
            case .parked(let parked):
                ticket.outcome = .gone
                streams.add(plan, .poll(parked), origin: StreamOrigin(ticket))
            case .refused(let answer, let reason):
                refuseStream(consume answer, reason, ticket)
            }
        }
    }

    private func fillStreamHead(_ plan: StreamPlan, _ ticket: Ticket) {
        let type = plan.format == .sse ? "text/event-stream" : "application/x-ndjson"
        ticket.exchange.response.add("Content-Type", plan.timeout == nil ? type : "application/json")
        ticket.exchange.response.add("Cache-Control", "no-store")
        ticket.exchange.response.add("X-Accel-Buffering", "no")
        ticket.exchange.response.add("Event-Id", plan.head.text)
    }

    package func refuseStream(_ answer: consuming Answer, _ reason: DetachRefusal, _ ticket: Ticket) {
        ticket.answer = consume answer
        var problem = Problem(.streamLimit, "the server holds as many streams as it may")
        problem.retryAfter = 1
        respond(ticket, with: problem)
    }
}

/// The beginning of exports.
extension TimerHandler {
    /// Begins an export, which takes the connection over. Only the server that owns the log answers it.
    func beginExport(_ ticket: Ticket) {
        var showsSecrets = false
        let log: ActiveLog
        do throws(Problem) {
            var query = QueryReader(ticket.target)
            showsSecrets = try query.flag("secrets", default: false)
            try query.finish()
            if isDraining { throw Problem(ServiceError.shuttingDown, timer: []) }
            guard let owned = context.service.log.value else { throw context.elsewhere(ticket) }
            log = owned
        } catch {
            return respond(ticket, with: error)
        }
        guard let answer = ticket.answer.take() else { return }
        ticket.beginResponse()
        ticket.exchange.response.add("Content-Type", "application/x-ndjson")
        ticket.exchange.response.add("Cache-Control", "no-store")
        ticket.exchange.response.add("X-Accel-Buffering", "no")
        if ticket.exchange.method == .head {
            note(ticket)
            ticket.releaseMemory()
            return answer.sendHead(isStream: true)
        }
        switch answer.detach() {
        case .stream(let stream):
            note(ticket)
            ticket.outcome = .gone
            let export = ExportStream(
                id: ticket.serial, stream, log, context.service, inbox, showsSecrets: showsSecrets,
                version: context.configuration.version)
            stream.producer = export
            exports.add(export)
        case .refused(let answer, let reason):
            refuseStream(consume answer, reason, ticket)
        }
    }
}
