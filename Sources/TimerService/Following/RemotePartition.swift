import Platform
import TimerLog

/// A partition that another process owns, as streams see it: the newest rows that its owners have told, and how far that is all.
final class RemotePartition: EventSource {
    private struct State {
        /// Position up to which every record was told, and no other will come.
        var known: Int64
        /// Whether `known` is more than a beginning that nobody has told.
        var isHeard: Bool
        /// Position up to which that is wanted.
        var wanted: Int64 = 0
        /// What an owner told of the events that are kept.
        var horizon: Int64 = 0
        var oldestAtStart = Int64.max
        /// The link to its owner.
        weak var link: FeedLink?
    }

    let number: Int
    let hub: EventHub
    private let readers: @Sendable (Int) throws(StoreError) -> any LogReader
    private let clock: @Sendable () -> Int64
    private let state: Guarded<State>

    /// A partition of which nothing is known.
    ///
    /// - Parameters:
    ///   - readers: makes a reader of a partition's log, whoever owns it.
    ///   - clock: position of this process's present instant.
    init(
        _ place: PartitionPlace, readers: @escaping @Sendable (Int) throws(StoreError) -> any LogReader,
        clock: @escaping @Sendable () -> Int64
    ) {
        number = place.number
        (self.readers, self.clock) = (readers, clock)
        hub = EventHub(head: 0, among: place.layout.count)
        state = Guarded(State(known: 0, isHeard: false))
    }

    /// Goes on behind what `local`, the partition that this process owned until now, has shown.
    init(
        _ place: PartitionPlace, after local: any EventSource,
        readers: @escaping @Sendable (Int) throws(StoreError) -> any LogReader, clock: @escaping @Sendable () -> Int64
    ) {
        number = place.number
        (self.readers, self.clock) = (readers, clock)
        // What a committer still shows there comes from the next owner as well.
        hub = EventHub(copying: local.hub)
        state = Guarded(
            State(
                known: hub.head, isHeard: true, horizon: local.horizon, oldestAtStart: local.oldestAtStart))
    }

    var isRemote: Bool { true }

    /// The own clock: those of a cluster's nodes differ by less than what `EventFeed.mayLead` allows for, and one that does
    /// not hear of an owner judges ids all the same.
    var clockPosition: Int64 { clock() }

    var horizon: Int64 { state.withLock { $0.horizon } }
    var oldestAtStart: Int64 { state.withLock { $0.oldestAtStart } }

    func makeReader() throws(StoreError) -> any LogReader { try readers(number) }

    /// Whether an owner has told where the partition stands.
    var isHeard: Bool { state.withLock { $0.isHeard } }

    /// Position up to which every record was told.
    var known: Int64 { state.withLock { $0.known } }

    /// What is known already. The owner is asked for the rest; once it has answered, the hub's observers are called.
    func promise(through position: Int64) -> Int64 {
        let (known, link) = state.withLock { state -> (Int64, FeedLink?) in
            guard state.known < position, state.wanted < position else { return (state.known, nil) }
            state.wanted = position
            return (state.known, state.link)
        }
        link?.ask(number, through: position)
        return min(position, known)
    }

    /// Position up to which somebody wants to know all records.
    var wanted: Int64 { state.withLock { $0.wanted } }

    /// Has its owner asked by `link` from now on. Returns `known`.
    func attach(_ link: FeedLink) -> Int64 {
        state.withLock { state in
            state.link = link
            return state.known
        }
    }

    /// Takes what an owner has told. What is known already is passed over.
    ///
    /// - Throws: where records between what is known and what was told are missing.
    func take(_ fact: FeedFact) throws(FrameError) {
        let isNew = try state.withLock { state throws(FrameError) in
            switch fact {
            case .rows(_, let after, let through, let rows):
                guard after <= state.known else { throw .gap }
                let new = rows.drop { $0.last <= state.known }
                if let first = new.first, first.first <= state.known { throw .disordered }
                let isFirst = !state.isHeard
                state.isHeard = true
                guard through > state.known else { return isFirst }
                hub.publish(Array(new), durableThrough: through)
                state.known = through
                return true
            case .behind(_, let head):
                let isFirst = !state.isHeard
                state.isHeard = true
                guard head > state.known else { return isFirst }
                // Streams read what lies between from the store.
                hub.reset(head: head, keeping: .max)
                state.known = head
                return true
            case .kept(_, let horizon, let oldest):
                state.horizon = max(state.horizon, horizon)
                state.oldestAtStart = min(state.oldestAtStart, oldest)
                return false
            case .elsewhere: return false
            }
        }
        if isNew { hub.notify() }
    }
}
