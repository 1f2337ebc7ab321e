import Platform
import TimerLog
import TimerService
import WireJSON

/// The server's figures of the last hour, a point for every ten seconds in which it owned the log.
final class StatsHistory: Sendable {
    /// Nanoseconds between two points.
    static let interval: Int64 = 10_000_000_000
    /// The most minutes that are kept.
    static let mostMinutes = 60
    /// The most points that are kept.
    static let mostPoints = mostMinutes * 6

    private struct State: Sendable {
        /// The points, oldest first.
        var points: [StatsPoint] = []
        /// The figures at the end of the newest interval.
        var last: StatsFigures
        /// The monotonic instant at which the interval under way ends.
        var nextAt: Int64
    }

    private let state: Guarded<State>

    /// Makes an empty history, whose first interval begins at `startedAt`, on the monotonic clock.
    init(startedAt: Int64) {
        state = Guarded(State(last: StatsFigures(monotonic: startedAt), nextAt: startedAt + Self.interval))
    }

    /// Ends the interval under way if its time is over. Called by each loop, about once a second.
    func tick(_ context: APIContext, now: Int64) {
        guard isDue(now) else { return }
        add(StatsFigures(context, now: now))
    }

    /// Whether the interval under way is over; if so, only the first call says that.
    func isDue(_ now: Int64) -> Bool {
        state.withLock { state in
            guard now >= state.nextAt else { return false }
            // After a stand-still the next interval begins now.
            state.nextAt = (now - state.nextAt < Self.interval ? state.nextAt : now) + Self.interval
            return true
        }
    }

    /// The instant at which the interval under way ends, on the monotonic clock.
    var nextAt: Int64 { state.withLock { $0.nextAt } }

    /// Adds the point of the interval that ends with `figures`, unless this process owns no log then.
    func add(_ figures: StatsFigures) {
        state.withLock { state in
            if let point = StatsPoint(from: state.last, to: figures) {
                if state.points.count == Self.mostPoints { state.points.removeFirst() }
                state.points.append(point)
            }
            state.last = figures
        }
    }

    /// Returns the points that ended within so many minutes before `now`, on the monotonic clock.
    func points(minutes: Int, now: Int64) -> [StatsPoint] {
        state.withLock { state in state.points.filter { now - $0.endedAt <= Int64(minutes) * 60_000_000_000 } }
    }

    /// Returns the answer to a request for the history.
    func page(for ticket: Ticket) -> Outcome {
        do throws(Problem) {
            var query = QueryReader(ticket.target)
            let minutes = try query.count("minutes", upTo: Self.mostMinutes, default: Self.mostMinutes)
            try query.finish()
            let points = points(minutes: minutes, now: Clocks.monotonic())
            return .object { json in
                json.member("interval", duration: Self.interval / 1_000_000)
                json.beginArray("points")
                for point in points { StatsJSON.write(point, &json) }
                json.endArray()
            }
        } catch {
            return .problem(error)
        }
    }
}

/// The figures from two of which a point of the history is made.
struct StatsFigures: Sendable {
    /// The instant of the figures, on the monotonic clock.
    var monotonic: Int64
    /// The same instant, in wall milliseconds.
    var wall: Int64 = 0
    /// The number of times that this process has taken the log, as its counters begin again with each; nil while it
    /// owns none.
    var ownership: Int?
    var counters = EngineCounters()
    /// The requests that were answered.
    var requests = 0
    /// The streams and long polls that are open.
    var streams = 0

    /// Makes the figures of a process that has done nothing yet.
    init(monotonic: Int64) { self.monotonic = monotonic }

    /// Reads the figures of the server.
    init(_ context: APIContext, now: Int64) {
        monotonic = now
        wall = Clocks.realtime() / 1_000_000
        if let log = context.service.log.value {
            ownership = context.service.place?.takeovers ?? 0
            counters = log.engine.snapshotCounters()
        }
        for metrics in context.metrics { requests += metrics.total }
        streams = context.streamCount
    }
}
