import ArgumentParser

/// The fault in a command line that the parser refused, as far as its subcommands show it.
struct CommandLineFault {
    /// The command whose help explains more: `timerd log`.
    private(set) var path: String
    /// The error for a word that names no subcommand; nil where each word names one.
    private(set) var unknown: String?

    /// Refuses a word that names no command also where the parser would show help instead: `timerd help WORD`,
    /// `timerd WORD --help`.
    static func check(_ arguments: some Sequence<String>, root: any ParsableCommand.Type) throws(Failure) {
        let words = Array(arguments)
        let fault = CommandLineFault(words.first == "help" ? words.dropFirst() : words[...], root: root)
        if let unknown = fault.unknown { throw Failure(.usage, unknown) }
    }

    /// Reads `arguments`, the words after the program's name.
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
