import ArgumentParser
import TimerCore

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

/// A guess at the word that a misspelt one was meant to be.
enum Suggestion {
    /// The words of other programs for what has another name here, but for those that `MistakenWord` knows.
    private static let others = [
        "add": "create", "new": "create", "ls": "list", "show": "get", "describe": "get", "rm": "delete",
        "remove": "delete", "update": "patch", "follow": "watch", "tail": "watch", "status": "stats",
        "completions": "completion", "run": "serve", "drop": "delete", "declare": "apply",
        "sync": "apply",
    ]

    /// Returns the word of `words` that is nearest to `word`; nil where none is near.
    static func nearest(to word: String, among words: [String]) -> String? {
        let command = MistakenWord.command(meantBy: word).map { "\($0.name)" }
        for other in [others[word.lowercased()], command] {
            if let other, words.contains(other) { return other }
        }
        let near = words.map { (word: $0, distance: distance(word.lowercased(), $0.lowercased())) }
            .filter { $0.distance <= 1 || $0.distance == 2 && word.count > 3 }
        return near.min { $0.distance < $1.distance }?.word
    }

    /// Returns `: did you mean create?`, or nothing where no word is near.
    static func phrase(for word: String, among words: [String]) -> String {
        nearest(to: word, among: words).map { ": did you mean \($0)?" } ?? ""
    }

    /// Returns how many letters are to be added, left out, replaced, or swapped with their neighbour: the distance
    /// of Damerau and Levenshtein between strings in which no letter is changed twice.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8.prefix(64))
        let right = Array(right.utf8.prefix(64))
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var next = [row + 1]
            for (column, other) in right.enumerated() {
                var least = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    least = min(least, before[column - 1] + 1)
                }
                next.append(least)
            }
            (before, last) = (last, next)
        }
        return last[right.count]
    }
}
