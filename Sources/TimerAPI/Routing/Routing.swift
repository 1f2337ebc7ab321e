import HTTPServer
import TimerCore

/// Finds the route that a path leads to.
enum Routing {
    /// Returns the route that decoded path components lead to.
    static func match(_ parts: PathParts) -> RouteMatch {
        if parts.isEmpty { return .route(.dashboard, parameter: []) }
        guard !parts.contains([]) else { return .unknown }
        if parts.has("v1", at: 0) { return matchAPI(parts) }
        if parts.count == 1 {
            for route in [Route.healthz, .readyz, .metrics, .openAPI, .openAPIJSON, .reference, .dashboardParts]
            where parts[0].elementsEqual(route.path.utf8.dropFirst()) {
                return .route(route, parameter: [])
            }
        }
        if parts.count == 2 && parts.has("problems", at: 0) { return .route(.problem, parameter: parts[1]) }
        return .unknown
    }

    private static func matchAPI(_ parts: PathParts) -> RouteMatch {
        guard parts.count >= 2 else { return .unknown }
        if parts.has("timers", at: 1) { return matchTimers(parts) }
        if parts.has("deliveries", at: 1) { return matchDeliveries(parts) }
        if parts.count == 2 && parts.has("events", at: 1) { return .route(.events, parameter: []) }
        if parts.has("stats", at: 1) { return matchStats(parts) }
        if parts.count == 2 && parts.has("cluster", at: 1) { return .route(.cluster, parameter: []) }
        if parts.count == 3 && parts.has("cluster", at: 1) && parts.has("promote", at: 2) {
            return .route(.promote, parameter: [])
        }
        if parts.count == 2 && parts.has("drain", at: 1) { return .route(.drain, parameter: []) }
        if parts.has("keys", at: 1) { return matchKeys(parts) }
        if parts.has("calendars", at: 1) { return matchCalendars(parts) }
        if parts.count == 2 && parts.has("export", at: 1) { return .route(.export, parameter: []) }
        if parts.count == 2 && parts.has("import", at: 1) { return .route(.importPart, parameter: []) }
        if parts.count == 3 && parts.has("import", at: 1) { return .route(.importState, parameter: parts[2]) }
        if parts.count == 3 && parts.has("schedules", at: 1) && parts.has("preview", at: 2) {
            return .route(.preview, parameter: [])
        }
        return .unknown
    }

    private static func matchTimers(_ parts: PathParts) -> RouteMatch {
        if parts.count == 2 { return .route(.timers, parameter: []) }
        if parts.has("batch", at: 2) { return parts.count == 3 ? .route(.batch, parameter: []) : .unknown }
        if parts.has("bulk", at: 2) {
            guard parts.count == 4 else { return .unknown }
            return BulkAction.isNamed(parts[3]) ? .route(.bulk, parameter: parts[3]) : .unknownAction(parts[3])
        }
        if parts.count == 3 { return .route(.timer, parameter: parts[2]) }
        if parts.count == 5 && parts.has("webhook", at: 3) && parts.has("test", at: 4) {
            return .route(.webhookTest, parameter: parts[2])
        }
        guard parts.count == 4 else { return .unknown }
        for route in belowTimer where parts.has(lastComponent(route), at: 3) {
            return .route(route, parameter: parts[2])
        }
        return .unknownCommand(timer: parts[2], word: parts[3])
    }

    private static let belowTimer = Route.allCases[Route.timerNext.rawValue...]

    private static func matchStats(_ parts: PathParts) -> RouteMatch {
        switch parts.count {
        case 2: .route(.stats, parameter: [])
        case 3 where parts.has("due", at: 2): .route(.statsDue, parameter: [])
        case 3 where parts.has("history", at: 2): .route(.statsHistory, parameter: [])
        default: .unknown
        }
    }

    private static func matchDeliveries(_ parts: PathParts) -> RouteMatch {
        switch parts.count {
        case 2: .route(.deliveries, parameter: [])
        case 3 where parts.has("redrive", at: 2): .route(.redrive, parameter: [])
        case 3: .route(.delivery, parameter: parts[2])
        case 4 where parts.has("redrive", at: 3): .route(.deliveryRedrive, parameter: parts[2])
        default: .unknown
        }
    }

    private static func matchKeys(_ parts: PathParts) -> RouteMatch {
        switch parts.count {
        case 2: .route(.keys, parameter: [])
        case 3 where parts.has("self", at: 2): .route(.keySelf, parameter: [])
        case 3: .route(.key, parameter: parts[2])
        case 4 where parts.has("rotate", at: 3): .route(.keyRotate, parameter: parts[2])
        default: .unknown
        }
    }

    private static func matchCalendars(_ parts: PathParts) -> RouteMatch {
        switch parts.count {
        case 2: .route(.calendars, parameter: [])
        case 3: .route(.calendar, parameter: parts[2])
        case 4 where parts.has("open", at: 3): .route(.calendarOpen, parameter: parts[2])
        default: .unknown
        }
    }

    private static func lastComponent(_ route: Route) -> StaticString {
        switch route {
        case .timerNext: "next"
        case .timerEvents: "events"
        case .timerWait: "wait"
        default: route.command?.name ?? ""
        }
    }
}

/// The result of matching a path.
enum RouteMatch {
    /// A route and, where its path has one, the id, slug or action.
    case route(Route, parameter: ArraySlice<UInt8>)
    /// A path below a timer that names no command.
    case unknownCommand(timer: ArraySlice<UInt8>, word: ArraySlice<UInt8>)
    /// A path below `bulk` that names no action.
    case unknownAction(ArraySlice<UInt8>)
    /// No route.
    case unknown
}

/// The checks on a request's head: path, token, origin and method. Only a request that passes them is read.
extension Routing {
    /// Finds the route, then checks token, origin and method in the contract's order.
    static func route(_ ticket: Ticket, through gate: Gate) throws(Problem) {
        let exchange = ticket.exchange
        ticket.parameter.removeAll(keepingCapacity: true)
        ticket.route = .dashboard
        ticket.isRouted = false
        if exchange.target == [UInt8(ascii: "*")] {
            try ticket.authenticate(nil, by: gate)
            return try gate.checkOrigin(exchange, nil)
        }
        var match = RouteMatch.unknown
        var malformed: Target.Malformed?
        do throws(Target.Malformed) {
            try ticket.target.read(exchange.target)
            match = Routing.match(ticket.target.parts)
        } catch {
            malformed = error
        }
        var route: Route?
        if case .route(let known, let parameter) = match {
            route = known
            ticket.route = known
            ticket.isRouted = true
            ticket.parameter.append(contentsOf: parameter)
        }
        try ticket.authenticate(route, by: gate)
        try gate.checkOrigin(exchange, route)
        if let malformed { throw Problem(.invalidRequest, malformed.detail, parameter: malformed.parameter) }
        switch match {
        case .route(.problem, let slug) where ProblemKind(slug: Array(slug)) == nil:
            throw Problem(.notFound, "nothing is at this path")
        case .route(let route, _):
            try checkMethod(exchange, route)
            try checkScope(ticket)
        case .unknownCommand(_, let word):
            throw unknown(word, TimerCommand.allCases.map { "\($0.name)" })
        case .unknownAction(let word):
            throw unknown(word, BulkAction.names, more: "; bulk takes \(BulkAction.names.joined(separator: ", "))")
        case .unknown:
            throw Problem(.notFound, "nothing is at this path")
        }
    }

    /// Refuses a request of a key that lacks the scope, or that is for other timers than the one that the head names. The
    /// server that knows the keys checks this.
    static func checkScope(_ ticket: Ticket) throws(Problem) {
        guard case .key(let holder) = ticket.principal else { return }
        let scope = ticket.route.scope(ticket.exchange.method)
        try scope.check(holder)
        switch scope.timers {
        case .none, .any, .inBody: break
        case .inPath: try RouteScope.check(holder, timer: ticket.parameter)
        case .inQuery:
            let timers = ticket.target.parameters.filter { $0.name == "timer" }
            if timers.isEmpty { try RouteScope.check(holder, timer: nil) }
            for timer in timers { try RouteScope.check(holder, timer: timer.value) }
        }
        // Whether a condition holds would show the version of a timer that the key can't read.
        if !holder.scopes.contains(.read), scope.need != .anyKey, ticket.exchange.header("if-match") != nil {
            throw .forbidden(.read)
        }
    }

    private static func checkMethod(_ exchange: Exchange, _ route: Route) throws(Problem) {
        let method = exchange.method == .head ? .get : exchange.method
        if method == .options || route.methods.contains(method) { return }
        var problem = Problem(.methodNotAllowed, "this path takes \(route.allow)")
        problem.allow = route.allow
        throw problem
    }

    private static func unknown(_ word: ArraySlice<UInt8>, _ commands: [String], more: String = "") -> Problem {
        let name = String(decoding: word, as: UTF8.self)
        var problem = Problem(.notFound, "there is no command `\(name)`\(more)")
        problem.commands = commands
        problem.didYouMean = MistakenWord.command(meantBy: name).map { "\($0.name)" }
        return problem
    }
}
