import HTTPServer
import TimerCore

/// The endpoint that a path names. The one table drives dispatch, 405 and `Allow`, metrics labels, and the check of
/// `openapi.yaml`.
enum Route: Int, CaseIterable {
    case dashboard, dashboardParts, healthz, readyz, openAPI, openAPIJSON, reference, problem
    case metrics, stats, statsDue, statsHistory, cluster, promote, preview, events
    case drain, export, importPart, importState
    case keys, key, keyRotate, keySelf
    case calendars, calendar, calendarOpen
    case deliveries, redrive, delivery, deliveryRedrive
    case timers, batch, bulk, timer, webhookTest, timerNext, timerEvents, timerWait
    case activate, suspend, resume, cancel, kick, fire, reschedule

    /// The path as `openapi.yaml` and metrics write it.
    var path: String {
        switch self {
        case .dashboard: "/"
        case .dashboardParts: "/dashboard-parts"
        case .healthz: "/healthz"
        case .readyz: "/readyz"
        case .metrics: "/metrics"
        case .openAPI: "/openapi.yaml"
        case .openAPIJSON: "/openapi.json"
        case .reference: "/docs"
        case .problem: "/problems/{slug}"
        case .stats: "/v1/stats"
        case .statsDue: "/v1/stats/due"
        case .statsHistory: "/v1/stats/history"
        case .cluster: "/v1/cluster"
        case .promote: "/v1/cluster/promote"
        case .preview: "/v1/schedules/preview"
        case .events: "/v1/events"
        case .drain: "/v1/drain"
        case .export: "/v1/export"
        case .importPart: "/v1/import"
        case .importState: "/v1/import/{export}"
        case .keys: "/v1/keys"
        case .key: "/v1/keys/{id}"
        case .keyRotate: "/v1/keys/{id}/rotate"
        case .keySelf: "/v1/keys/self"
        case .calendars: "/v1/calendars"
        case .calendar: "/v1/calendars/{name}"
        case .calendarOpen: "/v1/calendars/{name}/open"
        case .deliveries: "/v1/deliveries"
        case .redrive: "/v1/deliveries/redrive"
        case .delivery: "/v1/deliveries/{id}"
        case .deliveryRedrive: "/v1/deliveries/{id}/redrive"
        case .timers: "/v1/timers"
        case .batch: "/v1/timers/batch"
        case .bulk: "/v1/timers/bulk/{action}"
        case .timer: "/v1/timers/{id}"
        case .webhookTest: "/v1/timers/{id}/webhook/test"
        case .timerNext: "/v1/timers/{id}/next"
        case .timerEvents: "/v1/timers/{id}/events"
        case .timerWait: "/v1/timers/{id}/wait"
        default: "/v1/timers/{id}/\(command?.name ?? "")"
        }
    }

    /// The methods that the route takes, besides HEAD (with GET) and OPTIONS.
    var methods: [HTTPMethod] {
        switch self {
        case .timers, .keys: [.get, .post]
        case .timer: [.get, .put, .patch, .delete]
        case .key: [.get, .patch, .delete]
        case .calendar: [.get, .put, .delete]
        case .delivery: [.get, .delete]
        case .drain: [.post, .delete]
        case .promote, .preview, .batch, .bulk, .redrive, .deliveryRedrive, .importPart, .keyRotate, .webhookTest:
            [.post]
        default: command == nil ? [.get] : [.post]
        }
    }

    /// The command that a command path names; nil for any other path.
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

    /// Whether the route is a health check, which probes send under any host name.
    var isProbe: Bool { self == .healthz || self == .readyz }

    /// Whether the route takes no credential.
    var isOpen: Bool { rawValue < Self.firstClosed }

    private static let firstClosed = Route.metrics.rawValue

    /// Whether the route is about what the log holds, so that a server that does not own the log can't answer it.
    var isAboutTimers: Bool { !isOpen && self != .metrics && self != .cluster }

    /// Whether the route is about access keys.
    var isAboutKeys: Bool { self == .keys || self == .key || self == .keyRotate || self == .keySelf }

    /// Whether the route is about a timer, a delivery or a calendar that its path names.
    var isOfOneThing: Bool {
        switch self {
        case .timer, .webhookTest, .delivery, .deliveryRedrive, .calendar: true
        default: command != nil
        }
    }

    /// Whether a GET on the route opens a stream.
    var isStream: Bool { self == .events || self == .timerEvents || self == .timerWait || self == .export }

    /// The most bytes of a request's body.
    var bodyLimit: Int { self == .batch || self == .importPart ? APILimits.batchBytes : APILimits.bodyBytes }

    /// Whether a POST or DELETE has one effect however often it comes, or none.
    var hasOneEffect: Bool { self == .drain || self == .importPart || self == .preview }

    /// Whether a POST is done once for an `Idempotency-Key`, and its answer kept. The answer about an access key is not, as
    /// its secret is shown once, nor is a preview; a test of a webhook and a hand-over leave no answer in the log.
    var takesKeys: Bool { self != .preview && !isAboutKeys && self != .webhookTest && self != .promote }

    /// The value of an `Allow` header.
    var allow: String {
        var names = methods.flatMap { $0 == .get ? ["GET", "HEAD"] : ["\($0.name)"] }
        names.append("OPTIONS")
        return names.joined(separator: ", ")
    }
}
