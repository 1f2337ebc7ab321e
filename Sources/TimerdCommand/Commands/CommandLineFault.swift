import ArgumentParser

/// What is wrong with a command line that the parser refused, as far as its subcommands tell.
struct CommandLineFault {
    /// The command whose help tells more: `timerd log`.
    private(set) var path: String
    /// What to say of a word that names no subcommand; nil where each one does.
    private(set) var unknown: String?

    /// Refuses a word that names no command also where the parser would show help instead: `timerd help WORD`,
    /// `timerd WORD --help`.
    static func check(_ arguments: some Sequence<String>, root: any ParsableCommand.Type) throws(Failure) {
        let words = Array(arguments)
        let fault = CommandLineFault(words.first == "help" ? words.dropFirst() : words[...], root: root)
        if let unknown = fault.unknown { throw Failure(.usage, unknown) }
    }

    /// Reads `arguments`, the words behind the program's name.
    init(_ arguments: some Sequence<String>, root: any ParsableCommand.Type) {
        var command = root
        path = root._commandName
        for word in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !word.hasPrefix("-"), !(command == root && word == "help") else { return }
            guard let next = subcommands.first(where: { $0._commandName == word }) else {
                guard command.configuration.defaultSubcommand == nil else { return }
                let meant = Suggestion.phrase(for: word, among: subcommands.map { $0._commandName })
                unknown =
                    "there is no command `\(path) \(Printable.text(word))`"
                    + (meant.isEmpty ? "; `\(path) --help` lists them" : meant)
                return
            }
            command = next
            path += " \(word)"
        }
    }
}
