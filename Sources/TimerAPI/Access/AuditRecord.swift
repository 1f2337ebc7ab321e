import HTTPServer
import Platform
import TimerCore
import WireJSON

/// The audit log, as the API knows it. Both calls are made on any thread; neither may wait.
public struct AuditTrail: Sendable {
    /// Takes the record of a request.
    public var note: @Sendable (AuditRecord) -> Void
    /// Returns the number of records that were dropped.
    public var dropped: @Sendable () -> Int

    /// Makes a trail; see the members.
    public init(note: @escaping @Sendable (AuditRecord) -> Void, dropped: @escaping @Sendable () -> Int) {
        self.note = note
        self.dropped = dropped
    }
}

/// A request that changed or exported something, or that was refused for its client or for how much it wants, for the
/// audit log.
public struct AuditRecord: Sendable {
    /// The wall clock when the request was answered, in milliseconds.
    var at: Int64
    var requestID: [UInt8]
    /// The client's name: the id of its key, or `token`; nil for a client that has shown no good credential.
    var key: [UInt8]?
    var method: String
    /// The path and the query, as the client sent them.
    var target: [UInt8]
    /// The status code of the answer; nil if the client disconnected before there was one, so that a change may have
    /// been made.
    var status: Int?
    /// The address and port of the client.
    var peer: String
    var counts: AuditCounts?
    /// Whether the request was refused, so that it changed nothing.
    public var isRefusal: Bool

    /// An upper bound of the bytes that the record takes in memory, about.
    public var cost: Int { 256 + requestID.count + target.count + method.utf8.count + peer.utf8.count }
}

/// The number of things that one request of many lines or many timers did.
enum AuditCounts: Sendable, Equatable {
    /// The lines of a batch, by their outcomes.
    case batch(succeeded: Int, failed: Int)
    /// The counts of a bulk request, as its answer has them.
    case bulk([UInt8])
}

// MARK: Which requests have a record

extension AuditRecord {
    /// The statuses of refusals that have a record.
    private static let refusals = [401, 403, 421, 429]
    /// The mark of a problem whose request may have changed something.
    private static let unknown = Array(#""outcome":"unknown""#.utf8)

    /// Makes the record of a request whose response is filled; nil for a request that has none.
    ///
    /// A server that forwards a request makes its record, since that server knows the client. Only the
    /// server that owns the log knows whether a stream has started its timer.
    init?(_ ticket: Ticket) {
        let status = ticket.exchange.response.status
        // A stream that has started its timer has changed something, even if it is refused then.
        let isRefusal = Self.refusals.contains(status) && !ticket.hasActivated
        if isRefusal {
            if ticket.isForwarded { return nil }
        } else {
            guard ticket.hasActivated || Self.hasEffect(ticket), !ticket.isReplay else { return nil }
            guard
                status < 300 || ticket.hasActivated || ticket.exchange.response.body.firstRange(of: Self.unknown) != nil
            else { return nil }
        }
        self.init(ticket, status: status, isRefusal: isRefusal)
        if status == 200 { counts = AuditCounts(ticket.route, ticket.exchange.response.body) }
    }

    /// Makes the record of a request that was forwarded, and whose client has disconnected before the answer came; nil
    /// for a request that changes nothing.
    init?(abandoned ticket: Ticket) {
        guard ticket.exchange.method != .get, Self.hasEffect(ticket) else { return nil }
        self.init(ticket, status: nil, isRefusal: false)
    }

    /// Makes the record of a long poll that is answered; nil where it is not refused.
    init?(_ origin: StreamOrigin, status: Int) {
        guard Self.refusals.contains(status), !origin.isForwarded else { return nil }
        self.init(
            at: Clocks.realtime() / 1_000_000, requestID: origin.requestID, key: origin.actor?.name, method: "GET",
            target: origin.target, status: status, peer: origin.peer, counts: nil, isRefusal: true)
    }

    private init(_ ticket: Ticket, status: Int?, isRefusal: Bool) {
        let exchange = ticket.exchange
        let proved = status == 401 || !ticket.isJudgedByOwner ? nil : Gate.claimedKey(exchange, ticket.principal)
        self.init(
            at: Clocks.realtime() / 1_000_000, requestID: ticket.requestID,
            key: ticket.principal.actor?.name ?? proved,
            method: exchange.methodText.isEmpty ? "\(exchange.method.name)" : Target.visible(exchange.methodText),
            target: exchange.target, status: status, peer: exchange.peerDescription, counts: nil,
            isRefusal: isRefusal)
    }

    /// Whether a request changes or exports something if it succeeds.
    private static func hasEffect(_ ticket: Ticket) -> Bool {
        guard ticket.isRouted, !ticket.isForwarded else { return false }
        switch ticket.exchange.method {
        case .get: return ticket.route == .export
        case .head, .options: return false
        default:
            let isDry = ticket.target.parameters.contains { $0.name == "dryRun" && $0.value.elementsEqual("true".utf8) }
            return ticket.route != .preview && !isDry
        }
    }
}

extension Ticket {
    /// Whether another server has forwarded the request here, and answers its client.
    var isForwarded: Bool { exchange.isFromPeer }
}

// MARK: Counts

extension AuditCounts {
    /// The first bytes of a result of a batch's line.
    private static let resultHead = Array(#"{"status":"#.utf8)
    /// The most bytes of the counts of a bulk request.
    private static let mostBulkBytes = 256

    /// Reads the counts in the answer of a request; nil on a route that has none.
    init?(_ route: Route, _ answer: [UInt8]) {
        switch route {
        case .batch: self = Self.countResults(in: answer)
        case .bulk, .redrive:
            guard answer.count <= Self.mostBulkBytes else { return nil }
            self = .bulk(answer)
        default: return nil
        }
    }

    /// Counts the results in a batch's answer: lines, or the elements of an array.
    private static func countResults(in answer: [UInt8]) -> AuditCounts {
        var (succeeded, failed) = (0, 0)
        func tally(resultAt start: Int) {
            let place = start + resultHead.count
            guard place < answer.count, answer[start..<place].elementsEqual(resultHead) else { return }
            if answer[place] == UInt8(ascii: "2") { succeeded += 1 } else { failed += 1 }
        }
        if answer.first == UInt8(ascii: "[") {
            forEachElement(of: answer, tally)
        } else {
            var start = 0
            while start < answer.count {
                tally(resultAt: start)
                start = (answer.span.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? answer.count) + 1
            }
        }
        return .batch(succeeded: succeeded, failed: failed)
    }

    /// Calls `body` with the offset of each object in an array of objects, which is well-formed.
    private static func forEachElement(of array: [UInt8], _ body: (Int) -> Void) {
        var depth = 0
        var index = 0
        while index < array.count {
            switch array[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if depth == 1 { body(index) }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""): index = endOfString(in: array, from: index + 1)
            default: break
            }
            index += 1
        }
    }

    /// Returns the offset of the quote that ends a string whose text begins at `start`.
    private static func endOfString(in text: [UInt8], from start: Int) -> Int {
        var index = start
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index
    }
}

// MARK: The line

extension AuditRecord {
    /// Returns the record as a line of JSON, its end included.
    ///
    /// - Parameter dropped: the number of records that were dropped since the line before; 0 is not shown.
    public func line(dropped: Int) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("at", instant: at)
        json.member("requestId", text: KeySecret.masked(in: String(decoding: requestID, as: UTF8.self)))
        json.member("key", text: key.map { String(decoding: $0, as: UTF8.self) })
        json.member("method", text: method)
        json.member("target", text: Self.shown(target))
        json.member("status", status.map { Int64($0) })
        json.member("peer", text: peer)
        switch counts {
        case .batch(let succeeded, let failed)?:
            json.beginObject("counts")
            json.member("succeeded", Int64(succeeded))
            json.member("failed", Int64(failed))
            json.endObject()
        case .bulk(let text)?:
            json.key("counts")
            json.raw(text)
        case nil: break
        }
        if dropped > 0 { json.member("dropped", Int64(dropped)) }
        json.endObject()
        json.newline()
        return json.bytes
    }

    /// Returns a target without the values of cursors, and without secrets of keys that came by mistake.
    private static func shown(_ target: [UInt8]) -> String {
        let text = KeySecret.masked(in: Target.visible(target))
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return text }
        let query = parts[1].split(separator: "&", omittingEmptySubsequences: false).map { pair in
            let name = pair.prefix { $0 != "=" }
            return name.count < pair.count && isCursor(name) ? "\(name)=" : String(pair)
        }
        return "\(parts[0])?\(query.joined(separator: "&"))"
    }

    /// Whether a parameter with this name, as the client wrote it, is a cursor.
    private static func isCursor(_ name: Substring) -> Bool {
        let decoded = try? Target(Array("/?\(name)".utf8))
        return decoded?.parameters.first?.name == "cursor"
    }
}
