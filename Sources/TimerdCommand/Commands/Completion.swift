import ArgumentParser

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
