import HTTPServer
import TimerCore

/// The right that a request takes. The one table below makes the 403s, and `security` in `openapi.yaml` says the same.
struct RouteScope: Equatable {
    /// The credential that a request takes.
    enum Need: Equatable {
        /// None.
        case open
        /// Any that is good, whatever its scopes.
        case anyKey
        /// One with this scope.
        case scope(KeyScopes)
    }

    /// Whether a key with an `idPrefix` may send a request, and the place of the timer's id that must begin so.
    enum Timers: Equatable {
        /// The request is about no timer: such a key may send it.
        case none
        /// The id in the path.
        case inPath
        /// The id in the body, which is needed then. In a batch that of each line.
        case inBody
        /// The query parameter `timer`, which is needed then.
        case inQuery
        /// The request is about any timers: such a key may not send it.
        case any
    }

    var need: Need
    var timers: Timers

    static let open = RouteScope(need: .open, timers: .none)
    static let anyKey = RouteScope(need: .anyKey, timers: .none)
    static let admin = RouteScope(need: .scope(.admin), timers: .any)

    static func read(_ timers: Timers) -> RouteScope { RouteScope(need: .scope(.read), timers: timers) }
    static func kick(_ timers: Timers) -> RouteScope { RouteScope(need: .scope(.kick), timers: timers) }
    static func write(_ timers: Timers) -> RouteScope { RouteScope(need: .scope(.write), timers: timers) }
}

extension Route {
    /// The right that a request with `method`, which the route takes, needs. A batch needs more for lines that do more
    /// than kick: each line is judged by itself.
    func scope(_ method: HTTPMethod) -> RouteScope {
        let reads = method == .get || method == .head
        if method == .options { return scope(.get).need == .open ? .open : .anyKey }
        return switch self {
        case .dashboard, .dashboardParts, .healthz, .readyz, .openAPI, .openAPIJSON, .reference, .problem: .open
        case .metrics, .stats, .statsDue, .statsHistory, .preview: .read(.any)
        case .cluster, .promote, .drain, .export, .importPart, .importState, .keys, .key, .keyRotate: .admin
        case .keySelf: .anyKey
        case .calendars, .calendarOpen: .read(.any)
        case .calendar: reads ? .read(.any) : .write(.any)
        case .timers: reads ? .read(.any) : .write(.inBody)
        case .batch: .kick(.inBody)
        case .bulk: .write(.any)
        case .timer: reads ? .read(.inPath) : .write(.inPath)
        case .timerNext, .timerEvents, .timerWait: .read(.inPath)
        case .kick: .kick(.inPath)
        case .activate, .suspend, .resume, .cancel, .fire, .reschedule, .webhookTest: .write(.inPath)
        case .events, .deliveries: .read(.inQuery)
        case .redrive: .write(.inBody)
        case .delivery: reads ? .read(.any) : .write(.any)
        case .deliveryRedrive: .write(.any)
        }
    }
}

extension RouteScope {
    /// Refuses a request of a key that lacks the scope, or that has a prefix and may send no such request. The timer's
    /// own id is judged by `check`, once it is read.
    func check(_ holder: KeyHolder) throws(Problem) {
        if case .scope(let scope) = need, !holder.scopes.isSuperset(of: scope) { throw .forbidden(scope) }
        if timers == .any, !holder.key.idPrefix.isEmpty { throw .forbiddenBeyond(holder.key.idPrefix) }
    }

    /// Refuses a request about the timer with this id, nil where the request names none, of a key that is for others:
    /// whether or not there is such a timer.
    static func check(_ holder: KeyHolder, timer id: [UInt8]?) throws(Problem) {
        if holder.key.idPrefix.isEmpty { return }
        guard let id, holder.key.isFor(timer: id) else { throw .forbiddenBeyond(holder.key.idPrefix) }
    }
}
