import HTTPServer
import Platform
import TimerCore
import TimerService

/// Keeps one loop's gate to the newest tokens and keys, and knows when what is open has to be judged again. Confined to
/// the loop.
final class Gatekeeper {
    private let context: APIContext
    private(set) var gate: Gate
    private(set) var access: Published<AccessSettings>.Copy
    private var keys: Published<KeyRing?>.Copy
    /// Whether the gate has changed since what is open was judged last.
    private var isChanged = false
    /// Wall milliseconds at which the first of the credentials ends that have opened something; `Int64.max` for never.
    private var soonestEnd = Int64.max
    /// The minute of the wall clock, a second late at most while requests come.
    private var minute: Int64 = 0

    init(_ context: APIContext) {
        self.context = context
        access = Published.Copy(context.configuration.access)
        keys = Published.Copy(context.service.access.ring)
        gate = context.gate(tokens: access.value.tokens, keys: keys.value, serial: 0)
    }

    /// Follows changes of tokens and keys. Returns whether there was one.
    func follow() -> Bool {
        // Each of the two is to be copied.
        let (hasTokens, hasKeys) = (access.refresh(), keys.refresh())
        guard hasTokens || hasKeys else { return false }
        gate = context.gate(tokens: access.value.tokens, keys: keys.value, serial: gate.serial + 1)
        isChanged = true
        return true
    }

    /// Called about once a second.
    func tick() {
        _ = follow()
        let now = Clocks.realtime() / 1_000_000
        minute = now / 60_000
        if soonestEnd <= now { isChanged = true }
    }

    /// Notes that a key is used, once a minute for each connection.
    func noteUse(of ticket: Ticket) {
        guard let key = ticket.credential?.takeUse(in: minute) else { return }
        context.service.access.noteUse(of: key, at: Clocks.realtime() / 1_000_000)
    }

    /// Notes that a request opens something that lasts. Returns its credential; nil where that has ended meanwhile.
    func open(_ ticket: Ticket) -> Credential? {
        _ = follow()
        guard let credential = ticket.credential, gate.stillTakes(credential) else { return nil }
        soonestEnd = min(soonestEnd, credential.until)
        return credential
    }

    /// Returns the judgement of what is open, if that may have changed: whether a credential is still good. It is asked
    /// about everything that is open.
    func judgement() -> ((Credential) -> Bool)? {
        guard isChanged else { return nil }
        isChanged = false
        soonestEnd = .max
        let gate = gate
        return { [unowned self] credential in
            guard gate.stillTakes(credential) else { return false }
            soonestEnd = min(soonestEnd, credential.until)
            return true
        }
    }

    /// Judges a credential that only the owner of the log can judge, as this server may own it by now.
    ///
    /// - Throws: the refusal.
    func judgeUnproved(_ ticket: Ticket) throws(Problem) {
        guard ticket.principal.isUnproved else { return }
        _ = follow()
        try ticket.authenticate(ticket.route, by: gate, isNew: true)
        if ticket.principal.isUnproved { throw .cannotJudge(owner: context.service.owner) }
        try Routing.checkScope(ticket)
    }
}
