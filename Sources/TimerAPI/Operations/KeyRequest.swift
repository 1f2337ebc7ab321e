import HTTPServer
import TimerCore
import TimerService
import WireJSON

/// The work that a request about access keys asks for. Secrets are drawn before the step under the lock.
enum KeyRequest {
    case create(KeyDraft, KeySecret)
    case list(KeyPage)
    case show(KeyID)
    /// Shows the client itself.
    case showSelf
    case change(KeyID, KeyPatch)
    case rotate(KeyID, KeySecret, overlap: Int64)
    case revoke(KeyID)
}

/// The answer to a request about access keys, whose text is made outside of the lock.
struct KeyAnswer {
    var status = 200
    /// The key that was made; nil for none.
    var made: KeyID?
    /// Writes the text. Returns the cursor of the next page, where the text is a page that another one follows.
    let write: (inout JSONWriter) -> String?
}

extension RequestReader {
    /// Reads a request about access keys.
    func keyRequest(_ ticket: Ticket) throws(Problem) -> KeyRequest {
        try refuse("if-match", ticket)
        switch (ticket.route, ticket.exchange.method) {
        case (.keys, .post):
            if case .nobody = ticket.principal { throw Problem(KeyRefusal.noTokens) }
            try requireNoParameters(ticket)
            try parse(ticket)
            return .create(try KeyFields(ticket.document).draft(), .draw())
        case (.keys, _): return .list(try KeyPage(ticket.target))
        case (.keySelf, _):
            try requireNoParameters(ticket)
            return .showSelf
        default: break
        }
        try requireNoParameters(ticket)
        guard let id = KeyID(ticket.parameter) else { throw Problem(KeyRefusal.notFound) }
        switch (ticket.route, ticket.exchange.method) {
        case (.keyRotate, _):
            let secret = KeySecret.draw(for: id)
            if ticket.exchange.body.isEmpty { return .rotate(id, secret, overlap: 0) }
            try parse(ticket)
            return .rotate(id, secret, overlap: try KeyFields(ticket.document).overlap())
        case (_, .patch):
            try parse(ticket, orType: "application/merge-patch+json")
            return .change(id, try KeyFields(ticket.document).patch())
        case (_, .delete):
            try requireNothing(ticket)
            return .revoke(id)
        default: return .show(id)
        }
    }
}

extension Executor {
    /// Carries a request about access keys out, in one step.
    func perform(_ request: KeyRequest, _ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) {
        defer { ticket.rest(on: turn.head) }
        let grantor = ticket.principal.grantor
        switch request {
        case .create(let draft, let secret):
            let key = try turn.createKey(draft, id: secret.id, secret.digest, by: grantor)
            ticket.outcome = .keys(answer(key, secret, status: 201, made: key.id))
        case .list(let page):
            let (ring, access) = (turn.accessKeys, service.access)
            ticket.outcome = .keys(KeyAnswer { page.write(ring, lastUse: access.lastUse, &$0) })
        case .show(let id):
            guard let key = turn.accessKeys[id] else { throw .keyRefused(.notFound) }
            ticket.outcome = .keys(answer(key))
        case .showSelf:
            if let id = ticket.principal.key?.id {
                guard let key = turn.accessKeys[id] else { throw .keyRefused(.grantorIsGone) }
                ticket.outcome = .keys(answer(key))
            } else {
                let name = ticket.principal.actor?.name
                ticket.outcome = .keys(
                    KeyAnswer {
                        KeyJSON.writeOfEverything(name: name, &$0)
                        return nil
                    })
            }
        case .change(let id, let patch): ticket.outcome = .keys(answer(try turn.changeKey(id, patch, by: grantor)))
        case .rotate(let id, let secret, let overlap):
            let key = try turn.rotateKey(id, secret.digest, overlap: overlap, by: grantor)
            ticket.outcome = .keys(answer(key, secret))
        case .revoke(let id):
            try turn.revokeKey(id, by: grantor)
            ticket.outcome = .noContent
        }
    }

    private func answer(
        _ key: AccessKey, _ secret: KeySecret? = nil, status: Int = 200, made: KeyID? = nil
    ) -> KeyAnswer {
        let lastUsedAt = service.access.lastUse(of: key)
        return KeyAnswer(status: status, made: made) {
            KeyJSON.write(key, lastUsedAt: lastUsedAt, secret: secret, &$0)
            return nil
        }
    }
}
