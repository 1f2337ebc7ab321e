import ArgumentParser

/// `timerd export`.
struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write every timer as it is into a file, for another server.",
        discussion: """
            With --drain the server is drained first and stays so: its timers go on where they are imported. Without, the \
            export is a copy. Secrets of webhooks are in it, so the file is for its owner alone; --mask-secrets leaves them \
            out. The file gets its name once it is whole; a connection that breaks is tried anew.

              timerd export --drain timers.ndjson
              timerd export --drain - | timerd import --server http://new:8080 -
            """)

    @OptionGroup var client: ClientOptions
    @Flag(help: "Drain the server first.") var drain = false
    @Flag(help: "Leave the secrets of webhooks out.") var maskSecrets = false
    @Argument(help: ArgumentHelp("The file; - for standard output", valueName: "file"), completion: .file())
    var file: String = "-"

    func run() throws {
        let service = try client.client()
        if drain { _ = try ServerDrain(service).begin() }
        var target = RequestTarget("v1", "export")
        if !maskSecrets { target.add("secrets", "true") }
        let lines: Int
        if file == "-" {
            lines = try ExportReader(service, target.text).run { Console.out(bytes: $0) }
            try Console.checkOutput()
        } else {
            lines = try write(service, target.text)
        }
        guard client.json || file != "-" else { return }
        Console.error("timerd: \(lines) lines exported\(file == "-" ? "" : " to \(file)")")
    }

    /// Writes the export to a partial file, which gets its name once it is whole. Makes up to
    /// `ExportReader.attempts` attempts.
    private func write(_ service: ServiceClient, _ target: String) throws(Failure) -> Int {
        var left = ExportReader.attempts
        while true {
            left -= 1
            let output = try ExportFile(file)
            do throws(Failure) {
                let lines = try ExportReader(service, target).run { output.write($0) }
                try output.finish()
                return lines
            } catch {
                output.discard()
                guard error.isTransient, left > 0 else { throw error }
                Console.error("timerd: \(error.line); once more")
            }
        }
    }
}
