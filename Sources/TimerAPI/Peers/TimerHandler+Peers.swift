import HTTPServer
import Platform
import TimerLog
import TimerService

/// What servers say to each other on their own account.
extension TimerHandler {
    /// Nanoseconds between two looks at feeds and channels.
    static let peerPause: Int64 = 200_000_000

    /// Judges the head of a request that another server makes for itself.
    func admit(_ request: PeerRequest, _ exchange: Exchange) -> Admission {
        exchange.response.reset()
        do throws(Problem) { try gate.authenticate(exchange, nil) } catch {
            exchange.response.status = 401
            return .refuse
        }
        exchange.context = request
        return .accept(bodyLimit: PeerRequest.bodyLimit)
    }

    /// Answers such a request.
    func answer(_ request: PeerRequest, _ exchange: Exchange, _ answer: consuming Answer) {
        exchange.response.reset()
        exchange.response.status = 204
        switch request.kind {
        case .message:
            if !(context.service.place?.heard(exchange.body) ?? false) { exchange.response.status = 400 }
        case .feed(let number): return open(number, exchange, consume answer)
        case .asks(let number):
            if let feed = feeds[number] { feed.receive(exchange.body) } else { exchange.response.status = 404 }
        }
        answer.send()
    }

    private func open(_ number: UInt64, _ exchange: Exchange, _ answer: consuming Answer) {
        exchange.response.status = 200
        switch answer.detach(isForServer: true) {
        case .stream(let stream):
            let inbox = inbox
            let feed = FeedStream(stream, context.service.followers.open { inbox.wake() })
            stream.context = feed
            feeds[number] = feed
        case .refused(let answer, _):
            exchange.response.status = 503
            answer.send()
        }
    }

    /// The connection of a feed is closed.
    func feedClosed(_ feed: FeedStream) {
        feed.close(context.service.followers)
        feeds = feeds.filter { $0.value !== feed }
    }

    /// Has the channels follow who owns what, once that has changed.
    func followPeers() {
        guard isSpokesman, let routes = routes?.value, let remotes = context.service.remotes else { return }
        let gone = channels.filter { session, _ in !routes.destinations.contains { $0.session == session } }
        for (session, channel) in gone {
            channels[session] = nil
            channel.close()
        }
        for destination in routes.destinations where channels[destination.session] == nil {
            guard let address = PeerAddress(host: destination.host, port: destination.port) else { continue }
            channels[destination.session] = PeerChannel(address, remotes, inbox) { [links] in links.connect(to: $0) }
        }
        var numbers: [Int64: [Int]] = [:]
        for number in 0..<layout.count {
            if let session = routes[number]?.session { numbers[session, default: []].append(number) }
        }
        for (session, channel) in channels { channel.follow(numbers[session] ?? []) }
        for channel in channels.values { channel.followAnew() }
    }

    /// Sends what there is to say, and what followers have asked for.
    func stepPeers() {
        for feed in feeds.values { feed.step() }
        guard isSpokesman else { return }
        let now = Clocks.monotonic()
        for (session, message) in context.service.place?.takeMessages() ?? [] {
            channels[session]?.send(message, now: now)
        }
        for channel in channels.values { channel.step(now: now) }
    }

    /// Has a stream of all timers begin once that can be, where other servers own some. Returns false where none do, or for
    /// another request.
    func openMerged(_ ticket: Ticket) -> Bool {
        guard case .stream(let plan) = ticket.operation, plan.filter.timer == nil, context.service.remotes != nil,
            !context.service.ownsAll
        else { return false }
        openings.append(MergedOpening(plan, ticket, now: Clocks.monotonic()))
        beginOpenings()
        return true
    }

    /// Begins the streams whose beginning is known by now.
    func beginOpenings() {
        guard !openings.isEmpty else { return }
        let feed = context.service.feed
        let waiting = openings
        openings.removeAll(keepingCapacity: true)
        let (isWhole, newest) = (feed.isWhole, feed.newest)
        for var opening in waiting {
            let ticket = opening.ticket
            if opening.goal == nil && isWhole { opening.begin(newest: newest, present: feed.present) }
            if let goal = opening.goal, feed.end(of: goal) <= feed.head {
                ticket.outcome = .stream(opening.plan)
                respond(ticket)
            } else if ticket.answer?.isOrphaned ?? true {
                continue
            } else if Clocks.monotonic() - opening.began > MergedOpening.longestWait {
                ticket.outcome = .problem(.elsewhere(owner: context.service.owner))
                respond(ticket)
            } else {
                openings.append(opening)
            }
        }
    }

    /// Looks, a few times a second, for what could not be told or sent before.
    func lookAtPeers(now: Int64) {
        nextPeerLook = now + Self.peerPause
        for feed in feeds.values { feed.lookAgain() }
        stepPeers()
    }
}
