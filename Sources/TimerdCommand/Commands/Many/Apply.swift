import ArgumentParser
import WireJSON

/// `timerd apply`.
struct Apply: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make timers as a file declares them, and change only what differs.",
        discussion: """
            The file has a line of JSON for each timer, a JSON array of them, or TOML with a table for each, whose \
            name is the id unless an id is in it ([tea], ["shop.nightly"]); at most 64 MiB and 100,000 timers. A field \
            that a timer leaves out has its default. Differences are shown with old and new values; a timer that is as \
            declared is left alone, and so is one that is not in the file. Each timer is applied by itself: one that \
            is refused is named on stderr, and the others are applied. Exits 1 if any was refused.

            --prune deletes the timers that have a label and are not in the file, once all others were applied. \
            --prune is refused if the file is empty or a timer in it lacks the label.

            With --dry-run nothing changes, and the exit is 2 if something differs. With --json each difference is a \
            line, and the last line has the counts.

              timerd apply timers.toml --dry-run
              timerd apply timers.toml --prune app=shop
              timerd list --all --json | jq -c '.timers[]' \\
                | timerd apply --server http://other:8080 -
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: ArgumentHelp("The file; - for standard input", valueName: "file"), completion: .file())
    var file: String
    @Option(help: ArgumentHelp("Delete timers that have this label and are not in the file", valueName: "key=value"))
    var prune: String?
    @Flag(help: "Only show what differs.") var dryRun = false

    func run() throws {
        let declared = try DeclarationFile(reading: file)
        let prune = try prune.map { label throws(Failure) in try Prune(label, of: declared) }
        let service = try client.client()
        var counts = try show(declared)
        if !dryRun { counts.refused = try send(declared, service) }
        guard counts.refused == 0 else {
            let pruned = prune == nil ? "" : "; nothing is pruned"
            throw Failure(.other, "\(counts.refused) of \(declared.timers.count) timers refused\(pruned)")
        }
        if let prune {
            let ids = try prune.undeclared(service, declared)
            for id in ids { show(TimerDifference(deleting: id)) }
            if !dryRun { try prune.delete(ids, service) }
            counts.deleted = ids.count
        }
        if client.json { Console.out(bytes: counts.json) } else { Console.out(counts.text(isDryRun: dryRun)) }
        if dryRun, counts.differing > 0 { throw ExitCodes.differs }
    }

    /// Shows the differences and counts them.
    private func show(_ declared: DeclarationFile) throws(Failure) -> Counts {
        var counts = Counts()
        var progress = Progress()
        defer { progress.end() }
        var compared = 0
        try ApplyPlan(declared.timers, client.flags).run { timer, finding in
            compared += 1
            if case .same = finding {
                counts.unchanged += 1
                return progress.show("\(compared) of \(declared.timers.count) timers compared")
            }
            progress.end()
            switch finding {
            case .same: break
            case .absent:
                counts.created += 1
                show(TimerDifference(creating: timer))
            case .other(let stored, let pointers):
                counts.changed += 1
                guard let stored = JSONObject(stored) else { return }
                show(TimerDifference(changing: timer, from: stored, pointers))
            case .refused(let reason):
                counts.refused += 1
                // Without `--dry-run` the timer is refused once more when it is applied, and named then.
                if dryRun { Console.error("timerd: line \(timer.line): \(reason)") }
            }
        }
        return counts
    }

    private func show(_ difference: TimerDifference) {
        if client.json { Console.out(bytes: difference.json) } else { Console.out(difference.text) }
    }

    /// Applies every timer, also those that were as declared, since they may have changed meanwhile.
    ///
    /// - Returns: the number of refused timers.
    private func send(_ declared: DeclarationFile, _ service: ServiceClient) throws(Failure) -> Int {
        var sender = BatchSender(service, key: nil, json: false)
        try Self.cut(declared.timers) { (part) throws(Failure) in try sender.send(part) }
        sender.end()
        return sender.refused
    }

    /// Passes `timers` to `send` in their order, as lines of a batch that apply them, in parts that the server
    /// takes.
    static func cut(
        _ timers: [DeclaredTimer], _ send: (BatchLines.Part) throws(Failure) -> Void
    ) throws(Failure) {
        var part = BatchLines.Part()
        for timer in timers {
            let line = Array("{\"apply\":".utf8) + timer.body + Array("}\n".utf8)
            if part.numbers.count == BatchLines.mostLines || part.bytes.count + line.count > BatchLines.mostBytes {
                try send(part)
                part = BatchLines.Part()
            }
            part.bytes += line
            part.numbers.append(timer.line)
        }
        if !part.numbers.isEmpty { try send(part) }
    }

    /// The number of timers by outcome.
    struct Counts {
        var created = 0
        var changed = 0
        var unchanged = 0
        var deleted = 0
        var refused = 0

        var differing: Int { created + changed + deleted }

        /// Returns the counts in words, for a person.
        func text(isDryRun: Bool) -> String {
            let words =
                isDryRun ? ("to create", "to change", "to delete") : ("created", "changed", "deleted")
            let deletions = deleted == 0 ? "" : ", \(deleted) \(words.2)"
            return "\(created) \(words.0), \(changed) \(words.1)\(deletions), \(unchanged) unchanged"
        }

        /// The counts as a line of JSON.
        var json: [UInt8] {
            return JSONWriter.object { writer in
                writer.member("created", Int64(created))
                writer.member("changed", Int64(changed))
                writer.member("deleted", Int64(deleted))
                writer.member("unchanged", Int64(unchanged))
            } + [0x0a]
        }
    }
}
