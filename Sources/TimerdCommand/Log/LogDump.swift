import ArgumentParser
import TimerLog

/// `timerd log dump`.
struct LogDump: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Print every record of the log as a line of JSON.",
        discussion: """
            Positions are strings, as event ids are: they are the same numbers, too large for some JSON readers. \
            Instants are UTC. Exits 78 after the last good record where the log is damaged.

              timerd log dump --data ./timerd-data --from 1898231250945671168
              timerd log dump | jq -c 'select(.type == "fired") | [.at, .timer]'
            """)

    @OptionGroup var options: LogOptions

    @Option(help: ArgumentHelp("Begin with the record at this position", valueName: "position")) var from: Int64 = 0

    @Flag(help: "Show webhooks' secrets and the values of their secret headers, which are masked otherwise")
    var secrets = false

    /// The size of the collected output, in bytes, beyond which it is written.
    private static let chunk = 64 * 1024

    func run() throws {
        let place = try options.place()
        let reader = try place.reader()
        do throws(StoreError) {
            try dump(reader)
        } catch {
            throw Failure(error, directory: place.description)
        }
    }

    private func dump(_ reader: any LogReader) throws(StoreError) {
        var output: [UInt8] = []
        var damage: StoreError?
        try reader.read(from: from) { row in
            do throws(StoreError) {
                try BatchRows.read(row) { (record) throws(StoreError) in
                    if record.position >= from {
                        RecordLine.append(record, row, showsSecrets: secrets, to: &output)
                    }
                    return true
                }
            } catch {
                damage = error
            }
            guard damage == nil, output.count > Self.chunk else { return damage == nil }
            defer { output.removeAll(keepingCapacity: true) }
            return Console.out(bytes: output)
        }
        _ = Console.out(bytes: output)
        if let damage { throw damage }
    }
}
