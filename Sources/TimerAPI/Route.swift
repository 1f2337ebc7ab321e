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

    /// Whether it needs no token.
    var isOpen: Bool { self == .healthz || self == .readyz }

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
        case route(Route, parameter: [UInt8])
        /// A path below a timer that names no command.
        case unknownCommand(timer: [UInt8], word: [UInt8])
        /// Nothing here.
        case unknown
    }

    /// The route that decoded path components lead to.
    static func match(_ parts: [[UInt8]]) -> Match {
        guard let first = parts.first else { return .route(.dashboard, parameter: []) }
        if is_(first, "v1") { return matchAPI(parts) }
        if parts.count == 1 {
            for route in [Route.healthz, .readyz, .metrics, .openAPI] where is_(first, String(route.path.dropFirst())) {
                return .route(route, parameter: [])
            }
        }
        if parts.count == 2 && is_(first, "problems"), ProblemKind(slug: parts[1]) != nil {
            return .route(.problem, parameter: parts[1])
        }
        return .unknown
    }

    private static func matchAPI(_ parts: [[UInt8]]) -> Match {
        guard parts.count >= 2 else { return .unknown }
        if is_(parts[1], "timers") { return matchTimers(parts) }
        if is_(parts[1], "deliveries") { return matchDeliveries(parts) }
        if parts.count == 2 && is_(parts[1], "events") { return .route(.events, parameter: []) }
        if parts.count == 2 && is_(parts[1], "stats") { return .route(.stats, parameter: []) }
        if parts.count == 3 && is_(parts[1], "schedules") && is_(parts[2], "preview") {
            return .route(.preview, parameter: [])
        }
        return .unknown
    }

    private static func matchTimers(_ parts: [[UInt8]]) -> Match {
        if parts.count == 2 { return .route(.timers, parameter: []) }
        if is_(parts[2], "batch") { return parts.count == 3 ? .route(.batch, parameter: []) : .unknown }
        if is_(parts[2], "bulk") { return parts.count == 4 ? .route(.bulk, parameter: parts[3]) : .unknown }
        if parts.count == 3 { return .route(.timer, parameter: parts[2]) }
        guard parts.count == 4 else { return .unknown }
        for route in Route.allCases[Route.timerNext.rawValue...] where is_(parts[3], lastComponent(route)) {
            return .route(route, parameter: parts[2])
        }
        return .unknownCommand(timer: parts[2], word: parts[3])
    }

    private static func matchDeliveries(_ parts: [[UInt8]]) -> Match {
        switch parts.count {
        case 2: .route(.deliveries, parameter: [])
        case 3 where is_(parts[2], "redrive"): .route(.redrive, parameter: [])
        case 3: .route(.delivery, parameter: parts[2])
        case 4 where is_(parts[3], "redrive"): .route(.deliveryRedrive, parameter: parts[2])
        default: .unknown
        }
    }

    private static func lastComponent(_ route: Route) -> String {
        switch route {
        case .timerNext: "next"
        case .timerEvents: "events"
        case .timerWait: "wait"
        default: "\(route.command?.name ?? "")"
        }
    }

    private static func is_(_ bytes: [UInt8], _ word: String) -> Bool { bytes.elementsEqual(word.utf8) }
}

/// The bounds of what a request may hold.
enum APILimits {
    static let bodyBytes = 256 * 1024
    static let batchBytes = 16 << 20
    static let batchLines = 10_000
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
    /// Entries a list or a bulk command examines in one hold of the lock.
    static let examinedPerStep = 512
    /// Lines of a batch, or timers of a bulk command, applied in one hold of the lock.
    static let appliedPerStep = 128
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
