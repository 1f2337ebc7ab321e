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
        let start = plan.start(in: kept(for: plan), showsEvents: plan.showsEvents(to: ticket))
        goOn(with: plan, start, ticket)
    }

    /// Continues a request once it is known whether the log holds the id that the client named.
    func receivedIDCheck(_ result: Result<Bool, StoreError>, _ ticket: Ticket) {
        guard case .stream(let plan) = ticket.outcome else { return }
        let showsEvents = plan.showsEvents(to: ticket)
        goOn(with: plan, plan.start(in: kept(for: plan), isHeld: result, showsEvents: showsEvents), ticket)
    }

    func receivedHistory(_ result: Result<Replayer.History, StoreError>, _ ticket: Ticket) {
        guard case .stream(var plan) = ticket.outcome else { return }
        let start = plan.take(result, in: kept(for: plan))
        goOn(with: plan, start, ticket)
    }

    private func kept(for plan: StreamPlan) -> KeptEvents {
        let feed = context.service.feed
        return KeptEvents(
            horizon: context.service.horizon, durableHead: log.value?.engine.durableHead,
            isInMemory: feed.holds(after: plan.first), first: feed.positionState(of: plan.first))
    }

    private func goOn(with plan: StreamPlan, _ start: StreamStart, _ ticket: Ticket) {
        switch start {
        case .open: open(plan, ticket)
        case .idCheck(let position):
            let (serial, inbox) = awaitStore(ticket)
            context.service.replayer.isHeld(position) { inbox.post(.idCheck(ticket: serial, $0)) }
        case .history(let since):
            let (serial, inbox) = awaitStore(ticket)
            context.service.replayer.history(newest: plan.newestOfTimer, since: since) {
                inbox.post(.history(ticket: serial, $0))
            }
        case .forgotten: respond(ticket, with: Problem(ServiceError.refused(.notFound), timer: ticket.parameter))
        case .expired(let reason):
            var problem = Problem(.eventsExpired, reason)
            problem.oldest = EventID(context.service.oldestKept)
            problem.newest = plan.head
            respond(ticket, with: problem)
        case .unreadable: respond(ticket, with: Problem(.storageUnavailable, "the log can't be read now"))
        }
    }

    /// Subscribes the stream to its timer, which waits for a subscriber, in a further step; refuses the stream if
    /// there is no room for it.
    private func subscribe(_ plan: StreamPlan, _ ticket: Ticket) {
        guard plan.goesOn || context.streamCount < context.configuration.maximumStreams else {
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
        ticket.fillNothing(after: plan.head)
        send(ticket)
    }

    /// Takes the connection over for the stream or the long poll; a HEAD request is answered with the head only.
    private func open(_ plan: StreamPlan, _ ticket: Ticket) {
        // This server may have lost the log while the store was read for the plan.
        guard log.value != nil else { return sendToOwner(ticket) }
        guard let credential = gatekeeper.open(ticket) else { return respond(ticket, with: .unknownCredential) }
        var plan = plan
        if plan.mustSubscribe && !isDraining { return subscribe(plan, ticket) }
        if plan.history.isEmpty && plan.since == .beginning { plan.cursor.advance(to: context.service.horizon) }
        if plan.needsEvent && !isDraining { return probe(plan, ticket) }
        if let opened = ticket.opened.take() { return goOn(opened, plan, credential, ticket) }
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
            return respond(ticket, with: .stopping)
        }
        if plan.timeout == nil {
            fillStreamHead(plan, ticket)
            switch answer.detach(goesOn: plan.goesOn) {
            case .stream(let stream):
                stream.filler = plan.format.filler
                note(ticket)
                ticket.releaseMemory()
                streams.add(plan, .stream(stream), credential, ticket: kept(ticket))
            case .refused(let answer, let reason):
                refuseStream(consume answer, reason, ticket)
            }
        } else {
            if plan.isOfPeer {
                var begin = Response()
                begin.add(StreamRest.beginHeader, plan.begin.text)
                ticket.exchange.announce(begin)
            }
            switch answer.park(goesOn: plan.goesOn) {
            case .parked(let parked):
                ticket.releaseMemory()
                streams.add(
                    plan, .poll(parked), credential, origin: StreamOrigin(ticket), ticket: kept(ticket))
            case .refused(let answer, let reason):
                refuseStream(consume answer, reason, ticket)
            }
        }
    }

    /// Goes on here with a stream or long poll that began at another server.
    private func goOn(_ opened: OpenedAnswer, _ plan: StreamPlan, _ credential: Credential, _ ticket: Ticket) {
        ticket.releaseMemory()
        guard !opened.isClosed else { return }
        if isDraining {
            fillStop(ticket)
            return end(opened, ticket)
        }
        switch opened {
        case .stream(let stream): streams.add(plan, .stream(stream), credential, ticket: kept(ticket))
        case .poll(let parked):
            streams.add(plan, .poll(parked), credential, origin: StreamOrigin(ticket), ticket: kept(ticket))
        }
    }

    /// Ends a stream or long poll that began elsewhere with the response that its request has got here. After a refusal that
    /// may pass, the request is tried again.
    func end(_ opened: OpenedAnswer, _ ticket: Ticket) {
        let status = ticket.exchange.response.status
        if status >= 500, !isDraining, let desk {
            ticket.opened = opened
            return desk.take(ticket)
        }
        switch opened {
        case .stream(let stream): end(stream, ticket, status: status)
        case .poll(let parked):
            note(ticket)
            parked.response = ticket.exchange.response
            parked.send()
        }
        ticket.releaseMemory()
    }

    /// Ends a stream that can't go on, as its request was answered with `status`. A history that may lack events has no proper
    /// end.
    package func end(_ stream: DetachedStream, _ ticket: Ticket, status: Int) {
        if status == 410, let plan = plan(of: ticket), let rest = ticket.rest {
            stream.send(plan.format.gap(since: rest.examined))
        }
        let isProper = [204, 410].contains(status) || !isHistory(ticket) && (status < 500 || isDraining)
        isProper ? stream.finish() : stream.abort()
    }

    private func fillStreamHead(_ plan: StreamPlan, _ ticket: Ticket) {
        let type: StaticString = plan.format == .sse ? "text/event-stream" : "application/x-ndjson"
        fillStreamHead(plan.timeout == nil ? type : "application/json", ticket)
        ticket.exchange.response.add("Event-Id", plan.head.text)
        if plan.isOfPeer { ticket.exchange.response.add(StreamRest.beginHeader, plan.begin.text) }
    }

    func fillStreamHead(_ type: StaticString, _ ticket: Ticket) {
        ticket.exchange.response.add("Content-Type", type)
        ticket.exchange.response.add("Cache-Control", "no-store")
        ticket.exchange.response.add("X-Accel-Buffering", "no")
    }

    package func refuseStream(_ answer: consuming Answer, _ reason: DetachRefusal, _ ticket: Ticket) {
        ticket.answer = consume answer
        var problem = Problem(.streamLimit, "the server holds as many streams as it may")
        problem.retryAfter = 1
        respond(ticket, with: problem)
    }
}
