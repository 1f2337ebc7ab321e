import HTTPServer
import TimerCore

/// What a path names. The one table drives dispatch, 405 and `Allow`, metrics labels, and the check of `openapi.yaml`.
enum Route: Int, CaseIterable {
    case dashboard, healthz, readyz, metrics, openAPI, problem
    case stats, preview, events
    case deliveries, redrive, delivery, deliveryRedrive
    case timers, batch, bulk, timer, timerNext, timerEvents, timerWait
    case activate, suspend, resume, cancel, kick, fire, reschedule

    /// The path as `openapi.yaml` and metrics write it.
    var path: String {
        switch self {
        case .dashboard: "/"
        case .healthz: "/healthz"
        case .readyz: "/readyz"
        case .metrics: "/metrics"
        case .openAPI: "/openapi.yaml"
        case .problem: "/problems/{slug}"
        case .stats: "/v1/stats"
        case .preview: "/v1/schedules/preview"
        case .events: "/v1/events"
        case .deliveries: "/v1/deliveries"
        case .redrive: "/v1/deliveries/redrive"
        case .delivery: "/v1/deliveries/{id}"
        case .deliveryRedrive: "/v1/deliveries/{id}/redrive"
        case .timers: "/v1/timers"
        case .batch: "/v1/timers/batch"
        case .bulk: "/v1/timers/bulk/{action}"
        case .timer: "/v1/timers/{id}"
        case .timerNext: "/v1/timers/{id}/next"
        case .timerEvents: "/v1/timers/{id}/events"
        case .timerWait: "/v1/timers/{id}/wait"
        default: "/v1/timers/{id}/\(command?.name ?? "")"
        }
    }

    /// The methods it takes, beside HEAD (with GET) and OPTIONS.
    var methods: [HTTPMethod] {
        switch self {
        case .timers: [.get, .post]
        case .timer: [.get, .put, .patch, .delete]
        case .delivery: [.get, .delete]
        case .preview, .batch, .bulk, .redrive, .deliveryRedrive: [.post]
        default: command == nil ? [.get] : [.post]
        }
    }

    /// The command a command path names.
    var command: TimerCommand? {
        switch self {
        case .activate: .activate
        case .suspend: .suspend
        case .resume: .resume
        case .cancel: .cancel
        case .kick: .kick
        case .fire: .fire
        case .reschedule: .reschedule
        default: nil
        }
    }

    /// Whether it asks how the server is: under whatever name a probe does.
    var isProbe: Bool { self == .healthz || self == .readyz }

    /// Whether it needs no token.
    var isOpen: Bool { isProbe || self == .openAPI || self == .problem }

    /// Whether a GET on it opens a stream.
    var isStream: Bool { self == .events || self == .timerEvents || self == .timerWait }

    /// Most bytes a request's body may have.
    var bodyLimit: Int { self == .batch ? APILimits.batchBytes : APILimits.bodyBytes }

    /// The value of an `Allow` header.
    var allow: String {
        var names = methods.flatMap { $0 == .get ? ["GET", "HEAD"] : ["\($0.name)"] }
        names.append("OPTIONS")
        return names.joined(separator: ", ")
    }
}

/// What the routes of a path's components are.
enum Routing {
    /// A path taken apart.
    enum Match {
        /// A route and, where its path has one, the id, slug or action.
        case route(Route, parameter: ArraySlice<UInt8>)
        /// A path below a timer that names no command.
        case unknownCommand(timer: ArraySlice<UInt8>, word: ArraySlice<UInt8>)
        /// A path below `bulk` that names no action.
        case unknownAction
        /// Nothing here.
        case unknown
    }

    /// The route that decoded path components lead to.
    static func match(_ parts: PathParts) -> Match {
        if parts.isEmpty { return .route(.dashboard, parameter: []) }
        guard !parts.contains([]) else { return .unknown }
        if parts.has("v1", at: 0) { return matchAPI(parts) }
        if parts.count == 1 {
            for route in [Route.healthz, .readyz, .metrics, .openAPI]
            where parts[0].elementsEqual(route.path.utf8.dropFirst()) {
                return .route(route, parameter: [])
            }
        }
        if parts.count == 2 && parts.has("problems", at: 0) { return .route(.problem, parameter: parts[1]) }
        return .unknown
    }

    private static func matchAPI(_ parts: PathParts) -> Match {
        guard parts.count >= 2 else { return .unknown }
        if parts.has("timers", at: 1) { return matchTimers(parts) }
        if parts.has("deliveries", at: 1) { return matchDeliveries(parts) }
        if parts.count == 2 && parts.has("events", at: 1) { return .route(.events, parameter: []) }
        if parts.count == 2 && parts.has("stats", at: 1) { return .route(.stats, parameter: []) }
        if parts.count == 3 && parts.has("schedules", at: 1) && parts.has("preview", at: 2) {
            return .route(.preview, parameter: [])
        }
        return .unknown
    }

    private static func matchTimers(_ parts: PathParts) -> Match {
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

    private static func matchDeliveries(_ parts: PathParts) -> Match {
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

/// The bounds of what a request may hold.
enum APILimits {
    static let bodyBytes = 256 * 1024
    static let batchBytes = 16 << 20
    static let batchLines = 10_000
    /// Capacity above this is given back after an answer; each connection keeps a few buffers of that size.
    static let keptBytes = 16 * 1024
    /// What a loop keeps of its writer's memory after an answer.
    static let scratchBytes = 64 * 1024
    static let payloadBytes = 64 * 1024
    static let labels = 16
    static let labelKeyBytes = 63
    static let labelValueBytes = 255
    static let keyBytes = 128
    static let requestIDBytes = 128
    static let listDefault = 100
    static let listMaximum = 1000
    static let previewDefault = 10
    static let previewMaximum = 1000
    /// Deliveries whose events are read from the store at once.
    static let readAtOnce = 128
    /// Entries a list examines for one page before it gives a short one.
    static let examinedPerPage = 20_000
    /// Timers a list examines for one page where it looks for ids by how they begin.
    static let examinedForPrefix = 10_000
    /// Entries a list or a bulk command examines in one hold of the lock.
    static let examinedPerStep = 128
    /// Lines of a batch, or timers of a bulk command, applied in one hold of the lock.
    static let appliedPerStep = 64
    /// Bytes of a batch's lines that are read for one hold of the lock, and of timers that are copied in it.
    static let bytesPerStep = 128 * 1024
    /// Bytes of a batch's answer that are lines with a whole timer; those behind are brief.
    static let wholeResultBytes = 8 << 20
    /// Bytes of JSON after which a page ends.
    static let pageBytes = 4 << 20
    /// What a timer's JSON comes to at most, about.
    static let timerBytes = 128 * 1024
    /// What a brief result line comes to, about.
    static let briefResultBytes = 128
    /// What a timer's JSON holds beside what its client set, in bytes, about.
    static let shownBytes = 700
    /// Nanoseconds an answer waits for the disk before the client is told that the outcome is unknown.
    static let longestCommit: Int64 = 5_000_000_000
    /// Nanoseconds a command waits while too many records wait for the disk.
    static let longestOverload: Int64 = 2_000_000_000
}

extension HTTPMethod {
    /// The name as requests and `Allow` write it.
    var name: StaticString {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .other: "OTHER"
        }
    }
}
