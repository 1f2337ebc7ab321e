import HTTPClient
import Platform

/// The differences that applying a file would make. Each timer is asked of the server as a dry run, over several
/// connections, since one round trip after the other would take minutes on a network of high latency.
///
/// Findings are passed on in the order of the file. At most `window` of them are kept at once, so that memory does
/// not grow with the file's differences.
final class ApplyPlan: Sendable {
    /// The server's answer about a timer.
    enum Finding: Sendable {
        /// The server's timer is as declared.
        case same
        /// The server has no such timer.
        case absent
        /// The server's timer differs: the timer as the server shows it, and the JSON pointers of the differences.
        case other(stored: [UInt8], pointers: [String])
        /// The timer can't be applied, with the reason.
        case refused(String)
    }

    /// Most connections.
    private static let mostConnections = 8
    /// The number of timers for which another connection is worth its handshake.
    private static let timersPerConnection = 32
    /// Most findings that are kept.
    private static let window = 1024
    /// The number of findings after which the next timers may be asked for.
    private static let step = 64

    private struct State {
        var next = 0
        /// The end of the timers that may be asked for, as an index.
        var end = ApplyPlan.window
        var findings: [Int: Finding] = [:]
        var failure: Failure?
        var isOver = false
    }

    private let timers: [DeclaredTimer]
    private let flags: ClientFlags
    private let state = Guarded(State())

    /// Makes a plan of `timers`; nothing is asked yet.
    init(_ timers: [DeclaredTimer], _ flags: ClientFlags) {
        self.timers = timers
        self.flags = flags
    }

    /// Asks the server about every timer and passes the findings to `take`.
    ///
    /// - Throws: where the server can't be reached, or every further request would fail as well.
    func run(_ take: (DeclaredTimer, Finding) -> Void) throws(Failure) {
        let count = min(Self.mostConnections, 1 + timers.count / Self.timersPerConnection)
        let threads = (0..<count).map { number in Thread(name: "apply-\(number)") { self.work() } }
        defer {
            state.update { $0.isOver = true }
            for thread in threads { thread.join() }
        }
        for (place, timer) in timers.enumerated() {
            take(timer, try awaitFinding(at: place))
        }
    }

    private func awaitFinding(at place: Int) throws(Failure) -> Finding {
        let result = state.wait { state -> Result<Finding, Failure>? in
            if let failure = state.failure { return .failure(failure) }
            return state.findings.removeValue(forKey: place).map { .success($0) }
        }
        if place % Self.step == 0 { state.update { $0.end = place + Self.window } }
        return try result.get()
    }

    private func work() {
        do throws(Failure) {
            let service = try flags.client(timeoutMs: ClientOptions.timeoutMs)
            while let place = nextPlace() {
                let finding = try Self.ask(timers[place], service)
                state.update { $0.findings[place] = finding }
            }
        } catch {
            state.update { if $0.failure == nil { $0.failure = error } }
        }
    }

    /// Waits until another timer may be asked for. Returns its index; nil at the end.
    private func nextPlace() -> Int? {
        state.wait { state -> Int?? in
            if state.isOver || state.failure != nil || state.next == timers.count { return .some(nil) }
            guard state.next < state.end else { return nil }
            defer { state.next += 1 }
            return .some(state.next)
        }
    }

    private static func ask(_ timer: DeclaredTimer, _ service: ServiceClient) throws(Failure) -> Finding {
        var target = RequestTarget("v1", "timers", timer.id)
        let stored = target.text
        target.add("apply", "true")
        target.add("dryRun", "true")
        let json = [(name: "Content-Type", value: "application/json")]
        let response = try service.exchange(HTTPRequest(.put, target.text, headers: json, body: timer.body))
        guard response.status == 200 else {
            let failure = Failure(response)
            // Each further timer would get the same answer.
            if response.status == 401 || failure.isTransient { throw failure }
            return .refused(failure.line)
        }
        let pointers = try JSONObject(response).strings("differs")
        if pointers.isEmpty { return .same }
        // A pointer to the whole document says that the server has no such timer.
        if pointers == [""] { return .absent }
        let shown = try service.exchange(HTTPRequest(.get, stored))
        switch shown.status {
        case 200: return .other(stored: shown.body, pointers: pointers)
        case 404: return .absent
        default: throw Failure(shown)
        }
    }
}
