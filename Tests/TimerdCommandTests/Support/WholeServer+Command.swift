import TestSupport

extension WholeServer {
    /// The address for `--server`.
    var url: String { get throws { "http://127.0.0.1:\(try port)" } }

    /// Runs a client command against this server.
    func run(_ words: String...) throws -> CommandRun { try run(words) }

    /// Runs a client command against this server.
    func run(_ words: [String]) throws -> CommandRun { CommandRun(words, variables: ["TIMERD_SERVER": try url]) }
}
