import HTTPServer
import TimerLog
import TimerService

/// The next need of a stream or a long poll, before it opens.
enum StreamStart: Equatable {
    /// None: the stream opens.
    case open
    /// The store says whether the log holds the id at this position, which the client named.
    case idCheck(Int64)
    /// The store gives the timer's own events after this position.
    case history(since: Int64)
    /// A refusal: none of the deleted timer's events is kept any more.
    case forgotten
    /// A refusal: the stream can't begin at the id that its client named, for this reason.
    case expired(String)
    /// A refusal: the log can't be read now.
    case unreadable

    static let notYetGiven = expired("there is no event with this id yet")
    static let neverGiven = expired("the log holds no record of this id: what was shown under it was lost")
    static let tooOld = expired("events that may match came after that id and are no longer kept")
}

/// The events that are kept when a stream begins, as far as the stream has to know.
struct KeptEvents {
    /// Position up to which events are no longer kept.
    var horizon: Int64
    /// Position of the newest record that is on disk; nil where this server has lost the log.
    var durableHead: Int64?
    /// Whether every row after the stream's first position is in memory.
    var isInMemory: Bool
    /// Whether the stream's first position was given to a record, as far as memory knows.
    var first: EventHub.PositionState
}

extension StreamPlan {
    /// The position after which the stream shows events.
    var first: Int64 { since?.position ?? 0 }

    /// Whether the answer has events at all, or depends on there being one.
    func showsEvents(to ticket: Ticket) -> Bool { ticket.exchange.method != .head || needsEvent }

    /// Returns what the stream needs first.
    ///
    /// - Parameter showsEvents: see `showsEvents(to:)`.
    func start(in kept: KeptEvents, showsEvents: Bool) -> StreamStart {
        if isOfDeleted && newestOfTimer <= kept.horizon { return .forgotten }
        if let since, since > head, first >= kept.horizon { return .notYetGiven }
        if isTooOld(kept) && filter.timer == nil { return .tooOld }
        guard first > kept.horizon else { return startOfHistory(in: kept, showsEvents: showsEvents) }
        return switch kept.first {
        case .given: startOfHistory(in: kept, showsEvents: showsEvents)
        case .lost: .neverGiven
        case .gone: .idCheck(first)
        }
    }

    /// Returns what the stream needs once the store has said whether the log holds the id that the client named.
    func start(in kept: KeptEvents, isHeld: Result<Bool, StoreError>, showsEvents: Bool) -> StreamStart {
        switch isHeld {
        case .success(true): startOfHistory(in: kept, showsEvents: showsEvents)
        // The id's row may have been deleted while it was looked for.
        case .success(false) where isTooOld(kept):
            filter.timer == nil ? .tooOld : startOfHistory(in: kept, showsEvents: showsEvents)
        case .success(false): .neverGiven
        case .failure: .unreadable
        }
    }

    /// Takes the timer's own events, which the store gave, and returns what the stream needs then.
    mutating func take(_ history: Result<Replayer.History, StoreError>, in kept: KeptEvents) -> StreamStart {
        guard case .success(let history) = history else {
            // The stream is served from memory while storage fails, if memory reaches back far enough.
            return kept.isInMemory ? .open : .unreadable
        }
        if isOfDeleted && history.marks.isEmpty && first < newestOfTimer { return .forgotten }
        if history.isExpired && first > 0 { return .tooOld }
        self.history = history.marks[...]
        if first == 0 {
            cursor.advance(to: history.oldest - 1)
        } else if history.isWhole && history.oldest > first {
            lifeBegan = history.oldest
            cursor.advance(to: kept.horizon)
        }
        if history.marks.isEmpty { cursor.advance(to: head.position) }
        return .open
    }

    private func isTooOld(_ kept: KeptEvents) -> Bool { first > 0 && first < kept.horizon }

    private func startOfHistory(in kept: KeptEvents, showsEvents: Bool) -> StreamStart {
        // Memory may hold events of an earlier timer with this id, and a stream from the beginning shows only this
        // timer's. The walk over the timer's events can't begin at one that is not on disk yet (`--durability
        // interval`): then the stream looks through all rows.
        guard since != nil, filter.timer != nil, showsEvents, first == 0 || !kept.isInMemory,
            let durableHead = kept.durableHead, newestOfTimer <= durableHead
        else { return .open }
        return .history(since: first)
    }
}

extension Ticket {
    /// Fills the response of a stream or long poll that has shown no event after `id`.
    package func fillNothing(after id: EventID) {
        beginResponse()
        exchange.response.status = 204
        exchange.response.add("Cache-Control", "no-store")
        exchange.response.add("Event-Id", id.text)
    }
}
