/// The kinds of problem, each with a page of its own under `/problems/`.
enum ProblemKind: String, CaseIterable {
    case invalidRequest = "invalid-request"
    case invalidSchedule = "invalid-schedule"
    case unknownField = "unknown-field"
    case unsupportedMediaType = "unsupported-media-type"
    case tooLarge = "too-large"
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case illegalTransition = "illegal-transition"
    case notAWatchdog = "not-a-watchdog"
    case timerExists = "timer-exists"
    case versionMismatch = "version-mismatch"
    case idempotencyMismatch = "idempotency-mismatch"
    case idempotencyInProgress = "idempotency-in-progress"
    case timerLimit = "timer-limit"
    case streamLimit = "stream-limit"
    case eventsExpired = "events-expired"
    case overloaded
    case crossOrigin = "cross-origin"
    case misdirected
    case unauthorized
    case forbidden
    case ownerUnavailable = "owner-unavailable"
    case noSuccessor = "no-successor"
    case storageUnavailable = "storage-unavailable"
    case shuttingDown = "shutting-down"
    case drained
    case stillRunning = "still-running"
    case notImplemented = "not-implemented"
    case internalError = "internal-error"
    case calendarInUse = "calendar-in-use"

    /// Finds the kind that a path component names; nil if there is none.
    init?(slug: [UInt8]) { self.init(rawValue: String(decoding: slug, as: UTF8.self)) }

    /// The status code with which the kind usually comes.
    var status: Int {
        switch self {
        case .invalidRequest, .invalidSchedule, .unknownField: 400
        case .unauthorized: 401
        case .crossOrigin, .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .illegalTransition, .notAWatchdog, .timerExists, .idempotencyInProgress, .stillRunning, .calendarInUse,
            .noSuccessor:
            409
        case .eventsExpired: 410
        case .versionMismatch: 412
        case .tooLarge: 413
        case .unsupportedMediaType: 415
        case .misdirected: 421
        case .idempotencyMismatch: 422
        case .timerLimit: 429
        case .internalError: 500
        case .notImplemented: 501
        case .streamLimit, .overloaded, .ownerUnavailable, .storageUnavailable, .shuttingDown, .drained: 503
        }
    }

    /// The title: one line, the same for each occurrence.
    var title: String {
        switch self {
        case .invalidRequest: "The request can't be understood"
        case .invalidSchedule: "The schedule can't work"
        case .unknownField: "There is no such field or parameter"
        case .unsupportedMediaType: "The body's media type is not taken here"
        case .tooLarge: "The request is too large"
        case .notFound: "There is nothing here"
        case .methodNotAllowed: "The method is not taken here"
        case .illegalTransition: "The timer's state does not allow that"
        case .notAWatchdog: "Only watchdogs can be kicked"
        case .timerExists: "The id is taken"
        case .versionMismatch: "The version has moved on"
        case .idempotencyMismatch: "The idempotency key was used for another request"
        case .idempotencyInProgress: "The first request with this idempotency key is under way"
        case .timerLimit: "There are as many as may be"
        case .noSuccessor: "No other server can take the timers over"
        case .calendarInUse: "Timers go by the calendar"
        case .streamLimit: "There are as many streams as may be"
        case .eventsExpired: "Events after that point are no longer kept"
        case .overloaded: "More is under way than the server holds"
        case .crossOrigin: "Another site's page may not do that"
        case .misdirected: "The request was meant for another host"
        case .unauthorized: "A token or key is needed"
        case .forbidden: "The key does not allow that"
        case .ownerUnavailable: "Another node answers for the timer"
        case .storageUnavailable: "Storage takes no writes now"
        case .shuttingDown: "The server is stopping"
        case .drained: "The server is drained"
        case .stillRunning: "The server that made the export goes on"
        case .notImplemented: "That is not there yet"
        case .internalError: "The server made a mistake"
        }
    }

    /// The advice to a client about the problem, for its page.
    var advice: String {
        switch self {
        case .invalidRequest, .invalidSchedule:
            "Read `detail`; `pointer` is the JSON pointer of the part of the body at fault, `parameter` the query "
                + "parameter. Nothing was changed."
        case .unknownField:
            "Read `pointer` or `parameter` for the name; check its spelling against /openapi.yaml. Nothing was changed."
        case .unsupportedMediaType:
            "Send `Content-Type: application/json` (`curl --json` does); PATCH also takes "
                + "application/merge-patch+json, batch application/x-ndjson."
        case .tooLarge: "Send less: `detail` names the limit."
        case .notFound:
            "Check the path. A timer that ended is removed after its `retain`; `commands` lists the commands that "
                + "exist."
        case .methodNotAllowed: "Use a method that the `Allow` header names."
        case .illegalTransition:
            "`state` is the timer's state, `allowed` the commands that are legal in it. Often another client was first."
        case .notAWatchdog: "Make the timer with `watchdog` to kick it."
        case .timerExists: "Choose another id, or replace the timer with PUT."
        case .versionMismatch: "Read the timer or calendar again and decide again; `current` is its version."
        case .idempotencyMismatch: "Use a new key for a new request."
        case .idempotencyInProgress: "Repeat the request in a moment."
        case .timerLimit:
            "`detail` says of what. Delete timers, or start the server with a larger `--max-timers`; revoke keys; delete "
                + "calendars."
        case .calendarInUse:
            "`timers` is their number. Cancel or delete them, or give them another `calendar`, and delete this one then."
        case .streamLimit: "Close streams, or start the server with a larger `--max-streams`."
        case .eventsExpired: "List the timers again, then follow from the list's `Event-Id`."
        case .overloaded: "Repeat the request after `Retry-After`. `outcome` is `none`: nothing was changed."
        case .crossOrigin:
            "Call the API from a page of the same origin, or from outside of a browser. A proxy before the server must pass "
                + "`Host` on as the browser sent it."
        case .misdirected:
            "Use localhost or the address, start the server with `--allow-host` and the name that `detail` has, or give it "
                + "tokens."
        case .unauthorized:
            "Send `Authorization: Bearer` with the secret of a key, or with a token of the server's token file. A key that "
                + "was revoked or has expired is not taken any more, nor a secret that a rotation has ended."
        case .forbidden:
            "Use a key with the scope that `scope` names, or one that is for other timers than those whose ids begin with "
                + "`idPrefix`. A key's rights never change. Nothing was changed."
        case .ownerUnavailable:
            "Repeat the request after `Retry-After`, or at `owner`, the node that answers for the timer, if that is "
                + "known. With `outcome` `none` nothing was changed; with `unknown` repeat the request with its "
                + "Idempotency-Key, or read the timer."
        case .noSuccessor:
            "`timerd cluster status` lists the servers: one that holds the timers in memory shows how far it lags. Nothing "
                + "was changed."
        case .storageUnavailable:
            "Repeat the request after `Retry-After`. With `outcome` `none` nothing was changed; with `unknown` repeat "
                + "the request with its Idempotency-Key, or read the timer."
        case .shuttingDown: "Repeat the request once the server is back. `outcome` is `none`: nothing was changed."
        case .drained:
            "An operator has drained the server, mostly because its timers move to another one. Ask that one, or repeat the "
                + "request once `timerd undrain` was called. `outcome` is `none`: nothing was changed."
        case .stillRunning:
            "Drain the server that the export is of (`timerd drain`) and export again, so that no timer fires on both. For a "
                + "copy that is meant to run beside it, import with `?copy=true`."
        case .notImplemented: "`detail` names what the server does not do: send the request without it."
        case .internalError:
            "Read whether the change was made, and report the mistake: with the request and the server's log around it."
        }
    }
}
