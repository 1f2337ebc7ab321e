import Platform
import TimerCore
import WireJSON

/// The client that a request comes from, as its credential proves.
enum Principal: Sendable {
    /// A client that is asked for no credential. It may do everything.
    case nobody
    /// A client with a token of the token file. It may do everything, and all tokens are one principal.
    case token
    /// A client with a key.
    case key(KeyHolder)
    /// A client with a credential that only the server which owns the log can judge, as that one holds the keys.
    case unproved

    /// The key of the client; nil where it has none.
    var key: AccessKey? { if case .key(let holder) = self { holder.key } else { nil } }

    /// The client, as the events that its requests make name it; nil where it is asked for no credential.
    var actor: Actor? {
        switch self {
        case .nobody, .unproved: nil
        case .token: .token
        case .key(let holder): holder.actor
        }
    }

    /// The client, as the records of keys that it makes or changes name it.
    var grantor: KeyGrantor {
        switch self {
        case .nobody, .unproved: .nobody
        case .token: .token
        case .key(let holder): .key(holder.key.id)
        }
    }

    /// Whether the client may do what takes `scope`.
    func allows(_ scope: KeyScopes) -> Bool {
        guard case .key(let holder) = self else { return true }
        return holder.scopes.contains(scope)
    }

    /// Whether only the server that owns the log can judge the credential.
    var isUnproved: Bool { if case .unproved = self { true } else { false } }

    /// Whether a webhook's path and the values of its headers are masked to the client.
    var seesMasks: Bool { !allows(.write) }

    /// Whether the client may kick only: it is not shown the timer that it kicks.
    var isKickOnly: Bool { !allows(.read) }

    /// Refuses what takes a scope that the client lacks, or is about a timer that its key is not for, whether or not
    /// there is such a timer.
    ///
    /// - Parameter id: the id of the timer; nil where the request names none.
    func check(_ scope: KeyScopes, timer id: [UInt8]?) throws(Problem) {
        guard case .key(let holder) = self else { return }
        if !holder.scopes.contains(scope) { throw .forbidden(scope) }
        try RouteScope.check(holder, timer: id)
    }

    /// Refuses a body that makes a timer, before the rest of the body is judged, where the client may not make that one.
    func checkMaking(_ document: JSONDocument) throws(Problem) {
        guard case .key = self else { return }
        let id = document.member(document.root, "id")
        try check(.write, timer: id.flatMap { document.kind($0) == .string ? document.string($0) : nil })
    }
}

/// A key as it was when a client proved that it has it.
final class KeyHolder: Sendable {
    let key: AccessKey
    /// The scopes of the key, with those that they include.
    let scopes: KeyScopes
    /// The client, as events name it.
    let actor: Actor

    init(_ key: AccessKey) {
        guard let actor = Actor(Array(key.id.text.utf8)) else { preconditionFailure("an id of a key is a name") }
        self.key = key
        self.actor = actor
        scopes = key.scopes.withIncluded
    }
}

/// A credential that a client has proved, and its principal, until a gate with other tokens or keys judges it again.
///
/// A connection keeps its newest one, so that the next request with the same line need not be judged; streams and other
/// requests that last keep the one that opened them.
final class Credential {
    /// The text of the `Authorization` line, or what another server has sent of its client; empty where none was asked for.
    let line: [UInt8]
    let principal: Principal
    /// Wall milliseconds at which the credential ends, if nothing changes; `Int64.max` for never.
    private(set) var until: Int64
    /// The serial of the gate that has judged the credential last.
    private var gate: UInt64
    /// The minute of the wall clock in which the use of the key was noted last.
    private var minute: Int64 = -1

    init(_ line: [UInt8], _ principal: Principal, until: Int64, gate: UInt64) {
        self.line = line
        self.principal = principal
        self.until = until
        self.gate = gate
    }

    /// Whether the gate with this serial has judged the credential, and it has not ended since.
    func isGood(at gate: UInt64) -> Bool {
        gate == self.gate && (until == .max || Clocks.realtime() / 1_000_000 < until)
    }

    /// Takes the result of judging the credential again.
    func renew(as judged: Credential) { (gate, until) = (judged.gate, judged.until) }

    /// Whether the line is the same. The lines are compared in full: a proxy may have sent the last request of the
    /// connection for another client.
    func isGiven(by line: ArraySlice<UInt8>) -> Bool { ConstantTime.equals(self.line, line) }

    /// Returns the id of the key, once in each minute of the wall clock in which the key is used; else nil.
    func takeUse(in minute: Int64) -> KeyID? {
        guard minute != self.minute, case .key(let holder) = principal else { return nil }
        self.minute = minute
        return holder.key.id
    }
}

/// Comparisons whose time does not show how much of a text was right.
enum ConstantTime {
    /// Whether two texts are the same. The time taken is that of all of `left`, which is compared with itself where the
    /// lengths differ.
    static func equals(_ left: [UInt8], _ right: ArraySlice<UInt8>) -> Bool {
        let bytes = left.span
        let isAsLong = left.count == right.count
        return isSame(bytes, isAsLong ? right.span : bytes) && isAsLong
    }

    /// Whether two texts of the same length are the same. The compiler compares 32 bytes at once.
    private static func isSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}
