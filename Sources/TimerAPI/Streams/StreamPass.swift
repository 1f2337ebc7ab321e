import TimerCore
import TimerLog

/// A pass over rows that are new to a loop. It shows each channel the events that concern it.
///
/// The pass goes channel by channel and holds one portion at a time, so it can be interrupted after any step.
struct StreamPass {
    /// The cursor that the streams in step have reached once the pass is over.
    let through: StreamCursor
    private let events: [(row: RowEvents, index: Int)]
    /// Channels that have still to be served, each with the indices of the events that may concern
    /// it; nil for all events.
    private var channels: FIFO<(StreamChannel, [Int]?)> = FIFO()
    /// The channel being served.
    private var serving: (channel: StreamChannel, events: [Int]?)?
    private var draft: StreamPortionDraft?
    /// The number of the channel's events that the draft has seen.
    private var drafted = 0
    /// The portion being sent, and the number of members that have still to receive it.
    private var portion: StreamPortion?
    private var left = 0

    /// The most members that one step sends a portion to, and the most events that it examines.
    private static let sentAtOnce = 32
    private static let examinedAtOnce = 256

    /// Begins a pass over `rows`, the last of which ends at `through`.
    init(over rows: [RowEvents], through: StreamCursor, for known: StreamChannels, siphash: SipHash) {
        self.through = through
        var events: [(row: RowEvents, index: Int)] = []
        for row in rows { for index in row.events.indices { events.append((row, index)) } }
        self.events = events
        guard !events.isEmpty else { return }
        for channel in known.general { channels.append((channel, nil)) }
        guard known.hasTimers else { return }
        var concerned: [UInt64: [Int]] = [:]
        for (place, event) in events.enumerated() {
            let data = event.row.row.data
            let hash = TimerKey.hash(
                definition: data.span.extracting(event.row.events[event.index].definition), siphash: siphash)
            if !known.ofTimer(hash).isEmpty { concerned[hash, default: []].append(place) }
        }
        for (hash, places) in concerned { for channel in known.ofTimer(hash) { channels.append((channel, places)) } }
    }

    /// Takes the pass one bounded step further. Returns false when it is over.
    ///
    /// - Parameter show: sends a portion to a member that has not seen it.
    mutating func step(show: (StreamPortion, EventStream) -> Void) -> Bool {
        if portion != nil {
            hand(show)
            return true
        }
        if serving == nil {
            guard let next = channels.popFirst() else { return false }
            serving = next
            draft = StreamPortionDraft(next.0.key)
            drafted = 0
        }
        examine()
        return true
    }

    /// Drafts the next portion, or a part of it.
    private mutating func examine() {
        guard let (channel, places) = serving, var draft = draft.take() else { return }
        // All members of the channel have left.
        if channel.members.isEmpty { return serving = nil }
        let count = places?.count ?? events.count
        let end = min(count, drafted + Self.examinedAtOnce)
        while drafted < end && portion == nil {
            let (row, index) = events[places?[drafted] ?? drafted]
            drafted += 1
            draft.take(index, of: row)
            if draft.isFull { portion = draft.finish(through: StreamCursor(row.events[index].position)) }
        }
        if drafted == count && portion == nil {
            if !draft.isEmpty { portion = draft.finish(through: through) }
            serving = portion.map { _ in (channel, places) }
        }
        left = channel.members.count
        self.draft = draft
    }

    private mutating func hand(_ show: (StreamPortion, EventStream) -> Void) {
        guard let (channel, places) = serving, let portion else { return }
        // The seat of a member that leaves meanwhile goes to one that has been sent the portion already.
        var seat = min(left, channel.members.count)
        for _ in 0..<Self.sentAtOnce where seat > 0 {
            seat -= 1
            let stream = channel.members[seat]
            if portion.through > stream.cursor { show(portion, stream) }
            seat = min(seat, channel.members.count)
        }
        left = seat
        guard seat == 0 else { return }
        self.portion = nil
        if drafted == places?.count ?? events.count { serving = nil }
    }
}
