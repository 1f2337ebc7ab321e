import HTTPServer
import Platform
import TimerLog
import TimerService

/// Requests about the timers of several servers.
extension TimerHandler {
    /// Has the owners of the partitions answer a request in parts, where it concerns partitions that this server does not own.
    /// Returns false where this server answers it, or one other.
    func scatter(_ ticket: Ticket) -> Bool {
        if ticket.exchange.isFromPeer { return answerStats(ticket) }
        guard case .none = ticket.outcome, partitions.value.all.count < layout.count,
            let (gathering, changes) = gathering(for: ticket)
        else { return false }
        if !ticket.operation.isSpread {
            spreading.append(ticket)
            inbox.wake()
            return true
        }
        // What was changed has to be told of. A read is refused where there is no memory for what comes.
        guard !changes || ticket.exchange.reserveAnswer(ticket.operation.mostAnswerBytes) else {
            ticket.outcome = .problem(.tooManyAnswers)
            if !hold(ticket) { respond(ticket) }
            return true
        }
        scatter(ticket, gathering, changes: changes, home: home(of: ticket))
        return true
    }

    /// Takes a few steps of finding out the partitions of the lines of batches and imports.
    func stepSpreading() {
        guard !spreading.isEmpty else { return }
        let tickets = spreading
        spreading.removeAll(keepingCapacity: true)
        for ticket in tickets {
            for _ in 0..<Self.stepsPerRound where !ticket.operation.isSpread {
                switch ticket.operation {
                case .batch(let run): run.prepare(ids.next, requestID: ticket.requestID)
                case .importPart(let run): run.spread.step()
                default: break
                }
            }
            // This server may have come to own all partitions meanwhile.
            if !scatter(ticket) { enqueue(ticket) }
        }
    }

    private func home(of ticket: Ticket) -> Int? {
        ticket.idempotency.map { layout.partition(ofHash: $0.key.high) }
    }

    /// As `scatter`, for a request that this server began to answer itself, and which has changed nothing.
    func scatterAnew(_ ticket: Ticket) -> Bool {
        guard routes != nil, !ticket.exchange.isFromPeer, ticket.route.hasParts(ticket.exchange.method),
            context.service.standing == .serving
        else { return false }
        ticket.outcome = .none
        reader.read(ticket)
        return scatter(ticket)
    }

    /// Refuses a part request that is malformed, or about partitions that this server does not own.
    func refusePart(_ ticket: Ticket) -> Bool {
        guard let problem = reader.refusal(ofPart: ticket, owns: { partitions.value[$0] != nil }) else { return false }
        ticket.outcome = .problem(problem)
        respond(ticket)
        return true
    }

    /// Has the owners of all partitions say how those stand, and then write an export.
    func scatterExport(_ ticket: Ticket) {
        scatter(ticket, ExportGathering(PartitionScope(layout)), changes: false, home: nil)
    }

    /// Has the owners of all partitions apply the lines of an import that they have checked.
    func applyImport(_ ticket: Ticket, _ run: ImportRun) {
        scatter(ticket, ImportGathering(run, layout, .apply), changes: true, home: nil)
    }

    private func scatter(_ ticket: Ticket, _ gathering: any Gathering, changes: Bool, home: Int?) {
        let request = ScatteredRequest(ticket, self, gathering, changes: changes, home: home)
        delegated[ObjectIdentifier(request)] = request
        request.go()
    }

    /// Answers a request with what was gathered.
    func answer(_ ticket: Ticket, _ gathering: any Gathering) {
        ticket.isRendered = true
        ticket.exchange.response.reset()
        ticket.exchange.response.add("Request-Id", ticket.requestID)
        gathering.fill(ticket)
        send(ticket)
    }

    /// Shows another server what this one has counted of some partitions.
    private func answerStats(_ ticket: Ticket) -> Bool {
        guard ticket.route == .stats, case .none = ticket.outcome, case .none = ticket.operation,
            let part = reader.part(ticket)
        else { return false }
        ticket.outcome = .page(status: 200, type: "application/json", context.stats(of: part).text)
        respond(ticket)
        return true
    }

    /// How the answer to a request is gathered, and whether the request may change anything; nil where it concerns one
    /// partition, or none.
    private func gathering(for ticket: Ticket) -> (any Gathering, changes: Bool)? {
        let whole = PartitionScope(layout)
        switch ticket.operation {
        case .list(let run):
            // Timers before the cursor are in the partitions before.
            let scope = run.bySoonest ? whole : PartitionScope(run.partition..<layout.count, of: layout)
            let bySoonest = run.bySoonest
            return (
                PageGathering(scope, "timers", limit: run.limit) { ListCursor($0, bySoonest: bySoonest) }, false
            )
        case .deliveries(.list(let run)) where run.scope.isWhole:
            return (PageGathering(whole, "deliveries", limit: run.limit) { EventID(shown: $0) }, false)
        case .batch(let run):
            return (BatchGathering(run, layout, home: home(of: ticket)), true)
        case .bulk(let run): return (CountGathering(whole), !run.isDry)
        case .deliveries(.redrive(let run)):
            let partitions = run.partitions
            return partitions.count == 1
                ? nil : (CountGathering(PartitionScope(partitions, of: layout)), !run.isDry)
        case .importPart(let run): return (ImportGathering(run, layout, .check), false)
        case .importState(let run): return (ImportStateGathering(whole, run.name), false)
        case .drain(let run): return (DrainGathering(whole, isDrained: run.isDrained), true)
        case .none where ticket.route == .stats:
            let own = PartitionScope(partitions.value.all.map(\.number), of: layout)
            let others = (0..<layout.count).filter { !own.contains($0) }
            return (StatsGathering(PartitionScope(others, of: layout), own: context.stats(of: own)), false)
        default: return nil
        }
    }

    /// Who answers for a partition; nil where that is not known.
    func owner(of partition: Int) -> Scatter.Owner? {
        if partitions.value[partition] != nil { return .itself }
        return routes?.value[partition].map { .node($0.session) }
    }

    /// Sends a part of a request; nil where its owner takes none now.
    ///
    /// - Parameters:
    ///   - content: in the place of the client's, of the media type `type`; nil: the client's.
    func call(
        _ part: Scatter.Part, of ticket: Ticket, _ content: [UInt8]?, _ type: StaticString?,
        to receiver: any PeerCallReceiver
    ) -> PeerCall? {
        var adding: [(name: StaticString, value: [UInt8])] = [
            ("request-id", ticket.requestID), (PartHeader.partitions, Array(part.scope.text.utf8)),
        ]
        if let idempotency = ticket.idempotency {
            adding.append((PartHeader.fingerprint, PartHeader.text(idempotency.fingerprint)))
        }
        if let type { adding.append(("content-type", Array("\(type)".utf8))) }
        func staysHere(_ name: HeaderValue) -> Bool {
            name.equalsIgnoringCase("request-id") || PartHeader.isOne(name)
                || type != nil && name.equalsIgnoringCase("content-type")
        }
        // The length of an answer to HEAD is that of the joined page.
        let method = ticket.exchange.method == .head ? HTTPMethod.get : nil
        switch part.owner {
        case .itself:
            return ticket.exchange.askItself(
                leavingOut: staysHere, adding: adding, method: method, content: content,
                token: context.configuration.peerTokens.first ?? [], to: receiver)
        case .node(let session):
            guard let destination = routes?.value.destinations.first(where: { $0.session == session }),
                let link = links.link(to: destination)
            else { return nil }
            return link.forward(
                ticket.exchange, leavingOut: staysHere, adding: adding, method: method, content: content, to: receiver)
        }
    }

    /// Most bytes that the body of a request may have. The lines of a part of a batch come with their
    /// partitions, those of an import with their numbers.
    func bodyLimit(of ticket: Ticket) -> Int {
        let limit = ticket.route.bodyLimit
        guard ticket.exchange.isFromPeer else { return limit }
        switch ticket.route {
        case .batch: return limit + APILimits.batchLines * PartLine.mostAdded
        case .importPart: return limit + ImportPart.mostHeadBytes + ImportRequest.mostLines * ImportPart.mostAdded
        default: return limit
        }
    }
}
