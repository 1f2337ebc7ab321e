import TimerCore
import TimerService
import WireJSON

/// A line of an export, read and checked.
enum ImportLine {
    /// The first line.
    case head(isDrained: Bool, versionFloor: Int64)
    case timer(ImportedTimer)
    case delivery(ImportedDelivery)
    /// An access key; nil where it is left out, as its secrets are masked.
    case key(AccessKey?)
    case calendar(NamedCalendar)
    /// The last line, with the number of lines before it.
    case end(lines: Int64)

    /// The flags of a timer besides its state, by the names that lines have for them.
    static let flags: [(name: StaticString, flag: TimerProgress.Flags)] = [
        ("stalled", .stalled), ("unplanned", .unplanned), ("moved", .moved), ("webhookStopped", .webhookStopped),
        ("unsubscribed", .unsubscribed), ("awaiting", .awaiting), ("ownGrid", .ownGrid), ("readInGap", .readInGap),
    ]

    /// Reads the line at the root of `document`.
    ///
    /// - Parameters:
    ///   - export: the id that the export's first line must have.
    ///   - dropsSecrets: whether masked secrets are left out and the webhook is stopped.
    init(_ document: JSONDocument, export: String, dropsSecrets: Bool, zones: any ZoneSource) throws(Problem) {
        let line = MemberReader(document, document.root)
        guard document.kind(document.root) == .object, let first = document.firstChild(document.root) else {
            throw Problem(.invalidRequest, "a line is a JSON object", pointer: "")
        }
        switch String(decoding: document.keyBytes(first), as: UTF8.self) {
        case "export": self = try Self.head(line, export: export)
        case "timer":
            self = .timer(try ImportedTimer(document, line, dropsSecrets: dropsSecrets, zones: zones))
        case "delivery":
            self = .delivery(try ImportedDelivery(document, line, dropsSecrets: dropsSecrets, zones: zones))
        case "key": self = .key(try KeyLine.read(line, dropsSecrets: dropsSecrets))
        case "calendar": self = .calendar(try CalendarLine.read(line, zones: zones))
        case "end":
            try line.allow(["end", "lines"])
            self = .end(lines: try line.required("lines", in: 0...(.max)))
        case let name:
            throw Problem(
                .unknownField, "this server takes no lines of type `\(name)`", pointer: document.pointer(to: first))
        }
    }

    private static func head(_ line: MemberReader, export: String) throws(Problem) -> ImportLine {
        try line.allow([
            "export", "format", "eventId", "at", "drained", "secrets", "versionFloor", "server",
        ])
        guard try line.text("export") == export else {
            throw line.invalid("export", "this line is of another export")
        }
        let format = try line.required("format", in: 1...(.max))
        guard format == ExportLine.format else {
            throw line.invalid("format", "the export has format \(format); this server takes \(ExportLine.format)")
        }
        guard let isDrained = try line.flag("drained") else { throw line.invalid("drained", "`drained` is needed") }
        return .head(
            isDrained: isDrained,
            versionFloor: try line.integer("versionFloor", in: 0...ImportedTimer.mostVersions) ?? 0)
    }
}
