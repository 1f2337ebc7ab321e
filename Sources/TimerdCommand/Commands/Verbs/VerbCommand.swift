import ArgumentParser
import HTTPClient
import TimerCore

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
            try client.printTimer(HTTPRequest(.post, target.text), by: service)
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
