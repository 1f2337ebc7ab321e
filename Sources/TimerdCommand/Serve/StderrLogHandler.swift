import Logging
import Platform
import WireJSON

/// Writes log lines to stderr, each in one call.
struct StderrLogHandler: LogHandler {
    /// The form of the lines.
    let format: LogFormat
    private var level: Published<Logger.Level>
    var metadata: Logger.Metadata = [:]

    /// Makes a logger that writes through this handler.
    ///
    /// - Parameter level: the level of all copies of the logger, read at each line.
    static func logger(_ format: LogFormat, level: Published<Logger.Level>) -> Logger {
        Logger(label: "timerd") { _ in StderrLogHandler(format: format, level: level) }
    }

    /// The level of this copy: setting it does not change that of other copies.
    var logLevel: Logger.Level {
        get { level.value }
        set { level = Published(newValue) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var members = metadata
        if let more = event.metadata { members.merge(more) { $1 } }
        let milliseconds = Clocks.realtime() / 1_000_000
        // The members are sorted, so that equal events make equal lines.
        let sorted = members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let line =
            switch format {
            case .text: Self.text(event.level, "\(event.message)", sorted, at: milliseconds)
            case .json: Self.json(event.level, "\(event.message)", sorted, at: milliseconds)
            }
        Console.write(line, to: 2)
    }

    /// Returns a line of text, its end included. Text that a client chose (paths, ids) can't break it: control
    /// characters, quotes and spaces only come inside a JSON string.
    static func text(
        _ level: Logger.Level, _ message: String, _ members: [(String, Logger.MetadataValue)], at milliseconds: Int64
    ) -> [UInt8] {
        var line: [UInt8] = []
        RFC3339.append(milliseconds, to: &line)
        line.append(0x20)
        line += Array(level.rawValue.utf8)
        line += [UInt8](repeating: 0x20, count: max(0, 5 - level.rawValue.utf8.count) + 1)
        line += Array(message.utf8).map { $0 < 0x20 ? 0x20 : $0 }
        for (key, value) in members {
            line.append(0x20)
            line += Array(key.utf8)
            line.append(UInt8(ascii: "="))
            let text = "\(value)"
            line += isPlain(text) ? Array(text.utf8) : quoted(text)
        }
        line.append(0x0a)
        return line
    }

    /// Returns a line of JSON, its end included.
    static func json(
        _ level: Logger.Level, _ message: String, _ members: [(String, Logger.MetadataValue)], at milliseconds: Int64
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("time", instant: milliseconds)
            writer.member("level", text: level.rawValue)
            writer.member("message", text: message)
            for (key, value) in members {
                writer.key(bytes: Array(key.utf8))
                if isNumber(value) { writer.raw(Array("\(value)".utf8)) } else { writer.string("\(value)") }
            }
        } + [0x0a]
    }

    private static func isNumber(_ value: Logger.MetadataValue) -> Bool {
        guard case .stringConvertible(let value) = value else { return false }
        return value is Int || (value as? Double)?.isFinite ?? false
    }

    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty
            && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") }
    }

    private static func quoted(_ value: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(value)
        return writer.bytes
    }
}

/// The form of a line of the log.
enum LogFormat: String, CaseIterable, Sendable {
    /// `2026-11-21T09:00:00.000Z info  message key=value`.
    case text
    /// One object a line: `time`, `level`, `message`, then the metadata.
    case json
}
