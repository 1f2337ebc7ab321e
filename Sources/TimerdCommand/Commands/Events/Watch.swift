import ArgumentParser
import Glibc
import HTTPClient

/// `timerd watch`.
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Follow the events of one timer or of all.",
        discussion: """
            Goes on until the timer is deleted, --limit is reached or Ctrl-C. When the connection is lost it \
            reconnects by itself and goes on after the last event shown: none is missed, none is shown twice. \
            `timerd events` shows the events that are kept, and ends.

              timerd watch
              timerd watch tea
              timerd watch --type fired --label team=blue --json | jq -c .payload
              timerd watch tea --since 0
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; without it, every timer's events.", completion: Completions.timers) var id: String?
    @Option(help: ArgumentHelp("The timer's id, as a flag", valueName: "id"), completion: Completions.timers)
    var timer: String?
    @Option(help: ArgumentHelp("Begin after this event id; 0: with the oldest kept", valueName: "id"))
    var since: String?
    @OptionGroup var filter: EventFilter

    func run() throws {
        guard id == nil || timer == nil else {
            throw Failure(.usage, "the id is given twice: as an argument and by --timer")
        }
        let query = try filter.query(id: id ?? timer)
        let follower = EventFollower(try client.client(), query, since: since, limit: filter.limit) {
            [client] line, event in
            client.json ? Console.out(bytes: line + [0x0a]) : Console.out(TimerText.event(event))
        }
        try follower.run()
    }
}

/// Follows a stream of events over lost connections and restarts of the server: every event once, in order.
///
/// The stream is one of server-sent events: their heartbeats carry the id that the server has reached, so that a
/// follower whose filter matches nothing for days can still resume.
final class EventFollower {
    /// Seconds without a byte after which a stream is aborted: four of the server's default heartbeats.
    static let silenceSeconds = 60
    /// The pause before the first attempt to reconnect, in milliseconds; it doubles each time.
    static let firstPauseMs: UInt32 = 100
    /// The longest pause between two attempts, in milliseconds.
    static let longestPauseMs: UInt32 = 5000
    /// Most bytes of a line; the server's events are shorter.
    static let lineLimit = 1 << 20

    /// The outcome of a connection.
    private enum Outcome {
        case finished
        case lost
    }

    private let client: ServiceClient
    private let query: EventQuery
    private let show: ([UInt8], JSONObject) -> Bool
    private var cursor: String?
    private var left: Int?
    private var partial: [UInt8] = []
    /// The id and the data of the block that is being read.
    private var id: String?
    private var data: [UInt8]?
    private var isFinished = false
    private var failure: Failure?
    private var wasConnected = false
    /// Whether the timer is deleted: then the kept events of all timers are read once more for those of this
    /// timer.
    private var isLast = false
    private var pauseMs = firstPauseMs

    /// Makes a follower; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - since: the id after which to begin; nil to begin with the next event.
    ///   - limit: the number of events after which to end.
    ///   - show: takes each event, as it came and parsed; returns false to end.
    init(
        _ client: ServiceClient, _ query: EventQuery, since: String?, limit: Int?,
        show: @escaping ([UInt8], JSONObject) -> Bool
    ) {
        self.client = client
        self.query = query
        self.show = show
        cursor = since
        left = limit
    }

    /// Follows the events until the timer is deleted, `limit` is reached or `show` returns false.
    ///
    /// - Throws: when the server refuses, or can't be reached at the first attempt.
    func run() throws(Failure) {
        while try connect() == .lost {
            // Jitter, so that the clients of a server that restarts do not reconnect at one instant.
            usleep(UInt32.random(in: pauseMs / 2...pauseMs) * 1000)
            pauseMs = min(pauseMs * 2, Self.longestPauseMs)
        }
    }

    private func connect() throws(Failure) -> Outcome {
        partial = []
        id = nil
        data = nil
        let request = HTTPRequest(
            .get, query.target(since: cursor, isLast: isLast), headers: [("Accept", "text/event-stream")])
        let response: HTTPResponse
        do throws(HTTPClientError) {
            response = try client.stream(
                request, silenceSeconds: Self.silenceSeconds, onHead: { [self] in begin($0) },
                onBytes: { [self] in take($0) })
        } catch {
            if let failure { throw failure }
            guard wasConnected else { throw Failure(error) }
            return .lost
        }
        if let failure { throw failure }
        if isFinished || isLast && response.status == 200 { return .finished }
        switch response.status {
        case 200: return .lost
        // The timer is deleted, and all its events were shown.
        case 204: return .finished
        case 404 where wasConnected && query.id != nil && cursor != nil && !isLast:
            // The timer was deleted while this follower was disconnected: its events until then are still kept.
            isLast = true
            return .lost
        case 429, 500...: if wasConnected { return .lost }
        default: break
        }
        throw Failure(response)
    }

    private func begin(_ head: HTTPResponse) -> Bool {
        guard head.status == 200 else { return true }
        wasConnected = true
        // Without a cursor the stream begins after the newest event, and must begin there again after a lost
        // connection.
        if cursor == nil { cursor = head.header("Event-Id") }
        return true
    }

    private func take(_ bytes: [UInt8]) -> Bool {
        pauseMs = Self.firstPauseMs
        partial += bytes
        var start = partial.startIndex
        while let end = partial[start...].firstIndex(of: 0x0a) {
            let line = Array(partial[start..<end])
            start = end + 1
            if line.isEmpty {
                guard endBlock() else { return false }
            } else {
                takeField(line)
            }
        }
        partial.removeFirst(start)
        return partial.count <= Self.lineLimit || end(Failure(.other, "the server sent a line over 1 MiB"))
    }

    private func takeField(_ line: [UInt8]) {
        if line.starts(with: "id: ".utf8) { id = String(decoding: line.dropFirst(4), as: UTF8.self) }
        if line.starts(with: "data: ".utf8) { data = Array(line.dropFirst(6)) }
    }

    /// Takes a complete block: an event or a heartbeat.
    private func endBlock() -> Bool {
        defer {
            if let id, failure == nil { cursor = id }
            id = nil
            data = nil
        }
        return data.map(takeEvent) ?? true
    }

    private func takeEvent(_ line: [UInt8]) -> Bool {
        guard let event = JSONObject(line), let type = event["type"] else {
            return end(Failure(.other, "the server sent a line that is no event: is it timerd?"))
        }
        if type == "gap" {
            return end(
                Failure(.other, "too slow: events after \(event["since"] ?? "the last one") are no longer kept"))
        }
        if isLast, event["timer"] != query.id { return true }
        isFinished = !show(line, event)
        if let left { self.left = left - 1 }
        if left == 0 || type == "deleted" && query.id != nil { isFinished = true }
        return !isFinished
    }

    private func end(_ failure: Failure) -> Bool {
        self.failure = failure
        return false
    }
}
