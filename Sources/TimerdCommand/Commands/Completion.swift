import ArgumentParser
import HTTPClient
import TimerCore

/// `timerd completion`.
struct Completion: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a script that completes commands, flags, words and ids in a shell.",
        discussion: """
            Ids are asked of the server that --server or TIMERD_SERVER names, half a second at most. To install it:

              source <(timerd completion bash)
              timerd completion zsh > "${fpath[1]}/_timerd"
              timerd completion fish > ~/.config/fish/completions/timerd.fish
            """)

    @Argument(
        help: ArgumentHelp("The shell: bash, zsh or fish", valueName: "shell"),
        completion: .list(CompletionShell.allCases.map(\.rawValue)))
    var shell: String

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell) else {
            throw Failure(.usage, "there is no script for the shell `\(Printable.text(shell))`: bash, zsh or fish")
        }
        Console.out(Timerd.completionScript(for: shell))
    }
}

/// The words that the shell offers for a value: those of the server's own tables, and ids asked from the server.
enum Completions {
    /// Most ids offered.
    static let mostIDs = 50
    /// The time that the server may take, in milliseconds: the person who pressed Tab waits for it.
    static let timeoutMs = 2000

    static var states: CompletionKind { .list(TimerState.allCases.map { "\($0.name)" }) }
    static var kinds: CompletionKind { .list(TimerKind.allCases.map { "\($0.name)" }) }
    static var healths: CompletionKind { .list(["ok", "stalled"]) }
    static var eventTypes: CompletionKind { .list(EventType.allCases.map { "\($0.name)" }) }
    static var clocks: CompletionKind { .list(TimerClock.allCases.map { "\($0.name)" }) }
    static var closedPolicies: CompletionKind { .list(ClosedPolicy.allCases.map { "\($0.name)" }) }
    static var modes: CompletionKind { .list(RepeatMode.allCases.map { "\($0.name)" }) }
    static var starts: CompletionKind { .list(StartPolicy.allCases.map { "\($0.name)" }) }
    static var stops: CompletionKind { .list(StopPolicy.allCases.map { "\($0.name)" }) }
    static var resumes: CompletionKind { .list(ResumePolicy.allCases.map { "\($0.name)" }) }
    static var misfires: CompletionKind { .list(MisfirePolicy.allCases.map { "\($0.name)" }) }
    static var deliveryStates: CompletionKind { .list([DeliveryState.pending, .dead].map(\.name)) }
    static var actions: CompletionKind { .list(Bulk.actions) }
    static var scopes: CompletionKind { .list(KeyScopes.named.map { "\($0.name)" }) }

    /// The ids of timers that begin with the word.
    static var timers: CompletionKind {
        .custom { words, _, prefix in
            var target = RequestTarget("v1", "timers")
            if !prefix.isEmpty { target.add("idPrefix", prefix) }
            return ids(words, target, "timers")
        }
    }

    /// The ids of deliveries.
    static var deliveries: CompletionKind {
        .custom { words, _, prefix in
            ids(words, RequestTarget("v1", "deliveries"), "deliveries").filter { $0.hasPrefix(prefix) }
        }
    }

    /// The ids of access keys.
    static var keys: CompletionKind {
        .custom { words, _, prefix in ids(words, RequestTarget("v1", "keys"), "keys").filter { $0.hasPrefix(prefix) } }
    }

    /// The names of calendars.
    static var calendars: CompletionKind {
        .custom { words, _, prefix in
            ids(words, RequestTarget("v1", "calendars"), "calendars", member: "name").filter { $0.hasPrefix(prefix) }
        }
    }

    /// Returns the ids of a page; none where the server does not answer, since a completion must not fail.
    private static func ids(
        _ words: [String], _ target: RequestTarget, _ items: StaticString, member: StaticString = "id"
    ) -> [String] {
        var target = target
        target.add("limit", String(mostIDs))
        do throws(Failure) {
            let service = try ClientFlags(words: words).client(timeoutMs: timeoutMs)
            let response = try service.send(HTTPRequest(.get, target.text))
            return try JSONObject(response).objects(items).compactMap { $0[member] }
        } catch {
            return []
        }
    }
}
