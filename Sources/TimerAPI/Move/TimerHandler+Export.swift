import HTTPServer
import Platform
import TimerLog
import TimerService
import WireJSON

/// How exports begin and go on.
extension TimerHandler {
    /// Begins an export, at a server that owns all partitions; a portion of one, for another server; or one that the owners of the
    /// partitions write.
    func beginExport(_ ticket: Ticket) {
        var showsSecrets = false
        var portion = ExportPortion.whole
        let part = reader.part(ticket)
        do throws(Problem) {
            var query = QueryReader(ticket.target)
            showsSecrets = try query.flag("secrets", default: false)
            try query.finish()
            if isDraining { throw Problem(ServiceError.shuttingDown, timer: []) }
            if part == nil && partitions.value.all.count < layout.count {
                if ticket.exchange.isFromPeer || routes == nil { throw context.elsewhere(ticket) }
                if ticket.exchange.method != .head { return scatterExport(ticket) }
            }
            if part != nil, let text = ticket.exchange.header(PartHeader.export) {
                guard let named = ExportPortion(text.bytes) else {
                    throw Problem(.invalidRequest, "an export has no such portion")
                }
                portion = named
            } else if let part {
                return lookHowStands(part, ticket)
            }
        } catch {
            ticket.outcome = .problem(error)
            return respond(ticket)
        }
        guard let stream = detachExport(ticket) else { return }
        let export = ExportStream(
            id: ticket.serial, stream, context.service, inbox, portion, part ?? PartitionScope(layout),
            showsSecrets: showsSecrets, version: context.configuration.version)
        stream.context = export
        exports[ticket.serial] = export
        inbox.wake()
    }

    /// Takes the connection over for the lines of an export. Nil where the request was answered otherwise.
    private func detachExport(_ ticket: Ticket) -> DetachedStream? {
        guard let answer = ticket.answer.take() else { return nil }
        ticket.exchange.response.reset()
        ticket.exchange.response.add("Request-Id", ticket.requestID)
        ticket.exchange.response.add("Content-Type", "application/x-ndjson")
        ticket.exchange.response.add("Cache-Control", "no-store")
        ticket.exchange.response.add("X-Accel-Buffering", "no")
        if ticket.exchange.method == .head {
            note(ticket)
            ticket.letGo()
            answer.sendHead(isStream: true)
            return nil
        }
        switch answer.detach() {
        case .stream(let stream):
            note(ticket)
            ticket.outcome = .gone
            return stream
        case .refused(let answer, let reason):
            refuseStream(consume answer, reason, ticket)
            return nil
        }
    }

    // MARK: Exports that several servers write

    /// Looks, for another server, how some of the partitions stand.
    private func lookHowStands(_ part: PartitionScope, _ ticket: Ticket) {
        ticket.operation = .exportStanding(ExportStandingRun(part, reader.mark))
        executor.prepare(ticket, makeID: ids.next)
        enqueue(ticket)
    }

    /// Begins an export that the owners of the partitions have said how they stand for.
    func beginJoinedExport(_ ticket: Ticket, _ standing: ExportStanding) {
        var owned: [Scatter.Owner: [Int]] = [:]
        for number in 0..<layout.count {
            guard let owner = owner(of: number) else {
                ticket.outcome = .problem(.elsewhere(owner: nil))
                return respond(ticket)
            }
            owned[owner, default: []].append(number)
        }
        let parts = owned.sorted { ($0.value.min() ?? 0) < ($1.value.min() ?? 0) }
            .map { (owner: $0.key, scope: PartitionScope($0.value, of: layout)) }
        let showsSecrets = showsSecrets(ticket)
        guard let stream = detachExport(ticket) else { return }
        let export = JoinedExport(ticket, stream, self, ExportLegs(parts, standing))
        stream.context = export
        delegated[ObjectIdentifier(export)] = export
        var json = JSONWriter()
        ExportLine.writeHead(
            export: ExportLine.drawID(), version: context.configuration.version, eventID: standing.mark,
            at: standing.at, isDrained: standing.isDrained, showsSecrets: showsSecrets,
            versionFloor: standing.versionFloor, &json)
        export.begin(json.bytes)
    }

    /// The query was read before.
    private func showsSecrets(_ ticket: Ticket) -> Bool {
        var query = QueryReader(ticket.target)
        return (try? query.flag("secrets", default: false)) ?? false
    }

    /// Takes a few steps of each export.
    func stepExports() {
        guard !exports.isEmpty else { return }
        var hasMore = false
        for (id, export) in exports {
            var left = Self.stepsPerRound
            stepping: while true {
                switch export.step() {
                case .over:
                    exports[id] = nil
                    break stepping
                case .waits: break stepping
                case .more:
                    left -= 1
                    if left == 0 {
                        hasMore = true
                        break stepping
                    }
                }
            }
        }
        if hasMore { inbox.wake() }
    }

    /// Cuts the exports whose clients take nothing.
    func cutSilentExports(now: Int64) {
        for (id, export) in exports where export.cutIfSilent(now: now) { exports[id] = nil }
    }
}
