import ArgumentParser
import HTTPClient
import TimerCore
import WireJSON

/// `timerd activate`, `suspend`, `resume`, `cancel`, `kick`, `fire`.
struct VerbCommand<V: Verb>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "\(V.command.name)", abstract: V.abstract,
            discussion: """
                \(legality)

                  timerd \(V.command.name) tea
                  timerd \(V.command.name) tea coffee
                """)
    }

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; may repeat.", completion: Completions.timers) var id: [String]

    func run() throws {
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            let target = RequestTarget("v1", "timers", id, "\(V.command.name)")
            let response = try service.send(HTTPRequest(.post, target.text))
            // The server tells a key that may only kick nothing of the timer.
            if response.status != 204 { return try client.print(response) { TimerText.line($0) } }
            if !client.json { Console.out(Printable.text("\(id): done")) }
        }
    }

    /// The states in which the command is legal, from the transition table.
    private static var legality: String {
        let states = TimerState.allCases.compactMap { state -> String? in
            switch TimerMachine.transition(V.command, in: state) {
            case .illegal: nil
            case .restart: "\(state.name) (if restartable)"
            case .go, .nothing: "\(state.name)"
            }
        }
        return "Legal when \(states.joined(separator: ", ")); otherwise it is refused and changes nothing."
    }
}

/// A command that takes a timer's id and nothing else.
protocol Verb {
    static var command: TimerCommand { get }
    /// The effect of the command, for the help.
    static var abstract: String { get }
}

/// `timerd activate`.
enum Activate: Verb {
    static let command = TimerCommand.activate
    static let abstract = "Start an idle timer, or restart one that ended."
}

/// `timerd suspend`.
enum Suspend: Verb {
    static let command = TimerCommand.suspend
    static let abstract = "Hold a running timer."
}

/// `timerd resume`.
enum Resume: Verb {
    static let command = TimerCommand.resume
    static let abstract = "Let a suspended timer go on."
}

/// `timerd cancel`.
enum Cancel: Verb {
    static let command = TimerCommand.cancel
    static let abstract = "End a timer; it can still be read."
}

/// `timerd kick`.
enum Kick: Verb {
    static let command = TimerCommand.kick
    static let abstract = "Report to a watchdog that all is well."
}

/// `timerd fire`.
enum Fire: Verb {
    static let command = TimerCommand.fire
    static let abstract = "Fire a running timer now, beside its schedule."
}

/// `timerd reschedule`.
struct Reschedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Move the next fire of timers.",
        discussion: """
            Legal for running and suspended timers. A repeating one goes on from the new instant.

              timerd reschedule tea --after 30s
              timerd reschedule tea --at 2030-01-01T00:00:00Z
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; may repeat.", completion: Completions.timers) var id: [String]
    @Option(help: ArgumentHelp("That long from now", valueName: "duration")) var after: String?
    @Option(help: ArgumentHelp("At this RFC 3339 instant", valueName: "instant")) var at: String?

    func run() throws {
        guard (after == nil) != (at == nil) else {
            throw Failure(.usage, "reschedule needs one of --after and --at")
        }
        let body = Self.body(after: after, at: at)
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            let target = RequestTarget("v1", "timers", id, "reschedule")
            try client.printTimer(.post(target.text, json: body), by: service)
        }
    }

    private static func body(after: String?, at: String?) -> [UInt8] {
        return JSONWriter.object { writer in
            BodyField("after", after).write(to: &writer)
            BodyField("at", at).write(to: &writer)
        }
    }
}

/// `timerd delete`.
struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete timers, in any state.",
        discussion: """
              timerd delete tea
              timerd delete tea coffee
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The timer's id; may repeat.", completion: Completions.timers) var id: [String]

    func run() throws {
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            _ = try service.send(HTTPRequest(.delete, RequestTarget("v1", "timers", id).text))
            if !client.json { Console.out(Printable.text("\(id): deleted")) }
        }
    }
}
