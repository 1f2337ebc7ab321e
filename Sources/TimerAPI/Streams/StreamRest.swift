package import HTTPServer
import Platform

/// The rest of a stream or long poll that goes on elsewhere: at another server, once that one owns the log.
package struct StreamRest: Sendable, Equatable {
    /// The last id that was examined: the rest begins behind it.
    package var examined: EventID
    /// The number of events that may still be sent.
    package var left: Int
    /// The instant at which a long poll ends without an event, in monotonic nanoseconds; nil for a stream.
    package var deadline: Int64?

    /// Makes a rest; see the members.
    package init(examined: EventID, left: Int, deadline: Int64?) {
        self.examined = examined
        self.left = left
        self.deadline = deadline
    }

    /// The header line by which a server asks the owner of the log for a stream or a long poll, and says what of it is left.
    /// The owner then names the ids that it has examined; see `beginHeader` and `EventJSON.heartbeat`.
    package static let header: StaticString = "timerd-stream"
    /// The value of the header for a stream that has not begun.
    private static let new = Array("new".utf8)
    /// The header line by which the owner of the log names, to another server, the id behind which a stream begins.
    package static let beginHeader: StaticString = "timerd-begin"

    /// The value of the header at the instant `now`, in monotonic nanoseconds: `new` for a stream that has not begun, else the id
    /// examined, the number of events and, for a long poll, the milliseconds that are left.
    package static func headerValue(_ rest: StreamRest?, now: Int64) -> [UInt8] {
        guard let rest else { return new }
        let milliseconds = rest.deadline.map { " \(max(0, ($0 - now) / 1_000_000))" } ?? ""
        return Array("\(rest.examined.text) \(rest.left)\(milliseconds)".utf8)
    }

    /// Reads the header's value; nil for a stream that has not begun, and for anything else.
    init?(headerValue text: ArraySlice<UInt8>, now: Int64) {
        let words = text.split(separator: UInt8(ascii: " "))
        guard 2...3 ~= words.count, let id = EventID(shown: words[0]), let left = DecimalText.parse(words[1]), left > 0
        else {
            return nil
        }
        var deadline: Int64?
        if words.count == 3 {
            guard let milliseconds = DecimalText.parse(words[2]), milliseconds <= StreamReader.longestWait else {
                return nil
            }
            deadline = now + milliseconds * 1_000_000
        }
        self.init(examined: id, left: Int(left), deadline: deadline)
    }
}

/// A stream or parked answer that has a client already, and waits for the one that makes its bytes.
package enum OpenedAnswer {
    case stream(DetachedStream)
    case poll(ParkedAnswer)

    /// Whether the client has disconnected.
    var isClosed: Bool {
        switch self {
        case .stream(let stream): stream.isClosed
        case .poll(let parked): parked.isClosed
        }
    }
}

extension Ticket {
    /// Whether another server asks for the stream or long poll, for a client of its own.
    var isStreamOfPeer: Bool { exchange.isFromPeer && exchange.header(StreamRest.header) != nil }

    /// The rest of a stream that began elsewhere; nil for one that begins with this request.
    func restOfStream(now: Int64) -> StreamRest? {
        if let rest { return rest }
        guard exchange.isFromPeer else { return nil }
        return exchange.header(StreamRest.header).flatMap { StreamRest(headerValue: $0.bytes, now: now) }
    }
}
