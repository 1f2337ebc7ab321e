import ArgumentParser
import TimerLog

/// `timerd log dump`.
struct LogDump: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Print every record of the log as a line of JSON.",
        discussion: """
            Positions are strings, as event ids are: they are the same numbers, too large for some JSON readers. \
            Instants are UTC. Of a database each line names its partition too. Exits 78 behind the last good record where the log is damaged.

              timerd log dump --data ./timerd-data --from 1898231250945671168
              timerd log dump | jq -c 'select(.type == "fired") | [.at, .timer]'
            """)

    @OptionGroup var options: LogOptions

    @Option(help: ArgumentHelp("Begin with the record at this position", valueName: "position")) var from: Int64 = 0

    @Flag(help: "Show webhooks' secrets and the values of their secret headers, which are masked otherwise")
    var secrets = false

    /// Bytes collected before they are written.
    private static let chunk = 64 * 1024

    func run() throws {
        let place = try options.place()
        for log in try place.logs() {
            do throws(StoreError) {
                guard try dump(log) else { return }
            } catch {
                throw Failure(error.naming(log.partition), directory: place.description)
            }
        }
    }

    /// Returns whether there is still somebody who reads the output.
    private func dump(_ log: LogPlace.Readable) throws(StoreError) -> Bool {
        var output: [UInt8] = []
        var damage: StoreError?
        var isRead = true
        try log.reader.read(from: from) { row in
            do throws(StoreError) {
                try BatchRows.read(row) { (record) throws(StoreError) in
                    if record.position >= from {
                        RecordLine.append(record, row, log.partition, showsSecrets: secrets, to: &output)
                    }
                    return true
                }
            } catch {
                damage = error
            }
            guard damage == nil, output.count > Self.chunk else { return damage == nil }
            defer { output.removeAll(keepingCapacity: true) }
            isRead = Console.out(bytes: output)
            return isRead
        }
        isRead = Console.out(bytes: output) && isRead
        if let damage { throw damage }
        return isRead
    }
}
