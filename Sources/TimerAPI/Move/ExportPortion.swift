import TimerCore

/// What an export writes at one server.
enum ExportPortion: Equatable {
    /// All of it, with its first and last line: this server owns every partition.
    case whole
    /// The timers of some partitions, and what they owe to webhooks.
    case timers
    /// Those of their timers that have changed behind a position.
    case changes(since: EventID)

    private static let timersText = Array("timers".utf8)
    private static let changesText = Array("changes-".utf8)

    /// As a part request says it; nil for `whole`.
    var text: [UInt8]? {
        switch self {
        case .whole: nil
        case .timers: Self.timersText
        case .changes(let since): Self.changesText + Array(since.text.utf8)
        }
    }

    /// Reads what `text` gives; nil for anything else.
    init?(_ text: some Collection<UInt8>) {
        if text.elementsEqual(Self.timersText) {
            self = .timers
        } else if text.starts(with: Self.changesText),
            let since = EventID(shown: Array(text.dropFirst(Self.changesText.count)))
        {
            self = .changes(since: since)
        } else {
            return nil
        }
    }
}
