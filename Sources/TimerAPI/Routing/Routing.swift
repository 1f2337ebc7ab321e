import TimerCore

/// Finds the route that a path leads to.
enum Routing {
    /// Returns the route that decoded path components lead to.
    static func match(_ parts: PathParts) -> RouteMatch {
        if parts.isEmpty { return .route(.dashboard, parameter: []) }
        guard !parts.contains([]) else { return .unknown }
        if parts.has("v1", at: 0) { return matchAPI(parts) }
        if parts.count == 1 {
            for route in [Route.healthz, .readyz, .metrics, .openAPI, .openAPIJSON, .reference]
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
        if parts.count == 2 && parts.has("stats", at: 1) { return .route(.stats, parameter: []) }
        if parts.count == 2 && parts.has("cluster", at: 1) { return .route(.cluster, parameter: []) }
        if parts.count == 2 && parts.has("drain", at: 1) { return .route(.drain, parameter: []) }
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
            return BulkAction.isNamed(parts[3]) ? .route(.bulk, parameter: parts[3]) : .unknownAction
        }
        if parts.count == 3 { return .route(.timer, parameter: parts[2]) }
        guard parts.count == 4 else { return .unknown }
        for route in belowTimer where parts.has(lastComponent(route), at: 3) {
            return .route(route, parameter: parts[2])
        }
        return .unknownCommand(timer: parts[2], word: parts[3])
    }

    private static let belowTimer = Route.allCases[Route.timerNext.rawValue...]

    private static func matchDeliveries(_ parts: PathParts) -> RouteMatch {
        switch parts.count {
        case 2: .route(.deliveries, parameter: [])
        case 3 where parts.has("redrive", at: 2): .route(.redrive, parameter: [])
        case 3: .route(.delivery, parameter: parts[2])
        case 4 where parts.has("redrive", at: 3): .route(.deliveryRedrive, parameter: parts[2])
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
