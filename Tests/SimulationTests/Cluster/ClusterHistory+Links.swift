import TestSupport
import TimerCluster
import TimerLog

@testable import TimerCore
@testable import TimerService

/// What processes tell each other of their partitions.
extension ClusterHistory {
    /// A stream begins at what its process shows.
    func begin(_ follower: ClusterFollower, _ process: ClusterProcess) {
        let sources = process.feed.sources
        if !sources.isEmpty { follower.cursor = process.feed.head(of: sources) }
    }

    /// Up to where a stream reads the stores.
    func replayEnd(_ process: ClusterProcess, _ sources: [any EventSource]) -> Int64 {
        if sources.contains(where: \.isRemote) { tally.replays += 1 }
        if linkBug == .readsBeyondTold { return (0..<layout.count).map(audit.head).max() ?? 0 }
        return process.feed.head(of: sources)
    }

    /// Every stream has come to what was the newest event some time ago.
    func checkStreams(through newest: Int64) throws(BrokenPromise) {
        guard linkBug != nil else { return }
        for follower in followers {
            try promise(
                follower.cursor ?? 0 >= newest,
                "stream \(follower.number) stands at \(follower.cursor ?? 0), and \(newest) has come long ago")
        }
    }

    /// A process sees to its connections: one to each owner of partitions, as far as it knows.
    func tend(_ process: ClusterProcess) {
        schedule(after: random.number(20...150) * Self.millisecond, on: process) { [unowned self] in tend(process) }
        for link in links where link.owner === process {
            if link.follower.isDead { link.endServer() } else { link.server?.lookAgain() }
        }
        let wanted = owners(process)
        for link in links where link.follower === process && link.link != nil && !link.isReplaced {
            if link.owner.isDead || areCutOff(process, link.owner) || wanted[link.owner.machine.number] == nil {
                lose(link)
            } else if isChaotic && random.chance(oneIn: 25) {
                // It may go on for a while beside the one that takes its place.
                if random.chance(oneIn: 2) { lose(link) } else { replace(link) }
            }
        }
        links.removeAll { $0.link == nil && $0.server == nil }
        for (number, partitions) in wanted.sorted(by: { $0.key < $1.key }) {
            guard let owner = processes.first(where: { $0.machine.number == number && !$0.isDead }) else { continue }
            if areCutOff(process, owner) { continue }
            let known = links.first {
                $0.follower === process && $0.owner === owner && $0.link != nil && !$0.isReplaced
            }
            (known ?? connect(process, owner))?.link?.follow(partitions)
        }
        guard isChaotic, random.chance(oneIn: 120), let other = processes.randomElement(using: &random) else { return }
        linkCutUntil[pair(process, other)] = time.now + random.number(0...3 * Self.second)
    }

    /// The partitions of other processes, by the numbers of their machines, as a process knows.
    private func owners(_ process: ClusterProcess) -> [Int: [Int]] {
        var wanted: [Int: [Int]] = [:]
        for owner in process.membership.standing.owners where process.owned[owner.partition] == nil {
            var found = processes.first { $0.membership.session == owner.session }
            if isChaotic && random.chance(oneIn: 40) { found = processes.randomElement(using: &random) }
            guard let found, found !== process else { continue }
            wanted[found.machine.number, default: []].append(owner.partition)
        }
        return wanted
    }

    private func pair(_ one: ClusterProcess, _ other: ClusterProcess) -> Int {
        let primes = [2, 3, 5]
        return primes[one.machine.number] * primes[other.machine.number]
    }

    private func areCutOff(_ one: ClusterProcess, _ other: ClusterProcess) -> Bool {
        isChaotic && time.now < linkCutUntil[pair(one, other)] ?? 0
    }

    private func lose(_ link: SimulatedLink) {
        tally.linksLost += 1
        note("\(link.follower.machine.number) loses its link to \(link.owner.machine.number)")
        link.endLink()
        schedule(after: random.number(0...2 * Self.second), on: link.owner) { link.endServer() }
        if link.owner.isDead { link.endServer() }
    }

    private func replace(_ link: SimulatedLink) {
        note("\(link.follower.machine.number) connects to \(link.owner.machine.number) again")
        link.isReplaced = true
        schedule(after: random.number(0...Self.second), on: link.follower) { [unowned self] in lose(link) }
    }

    private func connect(_ follower: ClusterProcess, _ owner: ClusterProcess) -> SimulatedLink? {
        guard let remotes = follower.remotes else { return nil }
        let link = SimulatedLink(follower, owner)
        let sendAsks = UncheckedCall { [unowned self, weak link] in
            schedule(after: random.number(0...500_000), on: follower) { [unowned self, weak link] in
                if let link { sendAsksNow(link) }
            }
        }
        let sendFrames = UncheckedCall { [unowned self, weak link] in
            schedule(after: random.number(0...500_000), on: owner) { [unowned self, weak link] in
                if let link { sendFramesNow(link) }
            }
        }
        link.link = FeedLink(remotes, onReady: sendAsks.call)
        link.server = owner.followers.open(onReady: sendFrames.call)
        links.append(link)
        return link
    }

    private struct UncheckedCall: @unchecked Sendable {  // unchecked: a simulation has one thread
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
        @Sendable func call() { body() }
    }

    private func delay() -> Int64 {
        isChaotic && random.chance(oneIn: 60)
            ? random.number(0...600) * Self.millisecond : random.number(50_000...2 * Self.millisecond)
    }

    /// A message, as it may come in pieces.
    private func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        guard linkBug == LinkBug.none, random.chance(oneIn: 4) else { return [bytes] }
        let place = Int(random.number(0...Int64(bytes.count)))
        return [Array(bytes[..<place]), Array(bytes[place...])]
    }

    private func sendAsksNow(_ link: SimulatedLink) {
        while let message = link.link?.next() {
            for piece in pieces(message) {
                link.asks.append(piece)
                schedule(after: delay(), on: link.owner) { [unowned self] in try takeAsks(link) }
            }
        }
    }

    private func takeAsks(_ link: SimulatedLink) throws {
        guard let server = link.server, !link.asks.isEmpty else { return }
        if link.isServerBusy {
            return schedule(after: 50_000, on: link.owner) { [unowned self] in try takeAsks(link) }
        }
        link.isServerBusy = true
        defer { link.isServerBusy = false }
        try server.receive(altered(asks: link.asks.removeFirst(), link))
    }

    private func sendFramesNow(_ link: SimulatedLink) {
        guard let server = link.server else { return }
        if link.isServerBusy {
            return schedule(after: 50_000, on: link.owner) { [unowned self] in sendFramesNow(link) }
        }
        link.isServerBusy = true
        defer { link.isServerBusy = false }
        // There is room for so many.
        for _ in 0..<random.number(1...3) {
            guard let frame = server.next() else { return }
            tally.frames += 1
            noteSent(frame, link)
            for piece in pieces(frame) {
                link.frames.append(piece)
                schedule(after: delay(), on: link.follower) { [unowned self] in try takeFrames(link) }
            }
        }
        schedule(after: delay(), on: link.owner) { [unowned self] in sendFramesNow(link) }
    }

    private func takeFrames(_ link: SimulatedLink) throws {
        guard let end = link.link, !link.frames.isEmpty else { return }
        try end.receive(altered(frame: link.frames.removeFirst(), link))
    }

    // Mistakes that were asked for.

    private func noteSent(_ frame: [UInt8], _ link: SimulatedLink) {
        guard linkBug == .countsSentAsReceived, let frame = try? FeedFrame(frame.dropFirst(4), layout) else { return }
        for case .rows(let partition, _, let through, _) in frame.facts { link.follower.sent[partition] = through }
    }

    private func altered(asks bytes: [UInt8], _ link: SimulatedLink) throws -> [UInt8] {
        guard linkBug == .countsSentAsReceived else { return bytes }
        return FeedAsk.encode(
            try FeedAsk.decode(bytes.dropFirst(4), layout).map { ask in
                guard case .follow(let partition, let after) = ask else { return ask }
                let sent = link.follower.sent[partition] ?? 0
                return .follow(partition: partition, after: max(after, sent))
            })
    }

    private func altered(frame bytes: [UInt8], _ link: SimulatedLink) throws -> [UInt8] {
        guard linkBug == .countsSentAsReceived || linkBug == .passesOverGone else { return bytes }
        var frame = try FeedFrame(bytes.dropFirst(4), layout)
        frame.facts = frame.facts.map { fact in
            switch fact {
            case .behind(let partition, let head) where linkBug == .passesOverGone:
                return .rows(partition: partition, after: 0, through: head, [])
            case .rows(let partition, _, let through, let rows) where linkBug == .countsSentAsReceived:
                return .rows(partition: partition, after: 0, through: through, rows)
            default: return fact
            }
        }
        return frame.encoded()
    }
}
