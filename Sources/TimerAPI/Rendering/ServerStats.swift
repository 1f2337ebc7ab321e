import TimerCore
import WireJSON

/// What `GET /v1/stats` shows: what this server has counted, or all servers of its database together.
struct ServerStats {
    /// A member of what is shown.
    enum Count: Int, CaseIterable {
        case fires, events, streams, pendingDeliveries, deadDeliveries, idempotencyKeys, logBytes, residentBytes

        /// The name on the wire.
        var name: StaticString {
            switch self {
            case .fires: "fires"
            case .events: "events"
            case .streams: "streams"
            case .pendingDeliveries: "pendingDeliveries"
            case .deadDeliveries: "deadDeliveries"
            case .idempotencyKeys: "idempotencyKeys"
            case .logBytes: "logBytes"
            case .residentBytes: "residentBytes"
            }
        }

        /// Whether it is of each server alone; the log is one, and each server measures the whole of it.
        var isSummed: Bool { self != .logBytes && self != .residentBytes }
    }

    let version: String
    /// Milliseconds since the start.
    let uptime: Int64
    /// Timers by state, indexed by `TimerState.rawValue`.
    var timers: [Int]
    /// By `Count.rawValue`.
    var counts: [Int]
    var isDrained: Bool
    /// The newest event that was shown; of several servers the least, so that a client that follows from there misses nothing.
    var head: EventID

    /// Adds what another server has counted. Version, uptime, `logBytes` and `residentBytes` stay those of this one. Returns
    /// false for anything else than another server's stats.
    mutating func add(_ other: CountReader) -> Bool {
        for state in TimerState.allCases {
            guard let count = other.integer(state.name, in: "timers") else { return false }
            timers[Int(state.rawValue)] += count
        }
        for count in Count.allCases where count.isSummed {
            guard let value = other.integer(count.name) else { return false }
            counts[count.rawValue] += value
        }
        guard let text = other.text("eventId"), let head = EventID(shown: text) else { return false }
        self.head = min(self.head, head)
        isDrained = isDrained || other.isTrue("drained")
        return true
    }

    /// The JSON.
    var text: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("version")
        json.string(version)
        json.member("uptime", duration: uptime)
        json.key("timers")
        json.beginObject()
        for state in TimerState.allCases {
            json.key(state.name)
            json.integer(Int64(timers[Int(state.rawValue)]))
        }
        json.endObject()
        for count in Count.allCases {
            json.key(count.name)
            json.integer(Int64(counts[count.rawValue]))
        }
        json.member("drained", isDrained)
        json.key("eventId")
        head.write(&json)
        json.endObject()
        return json.bytes
    }
}
