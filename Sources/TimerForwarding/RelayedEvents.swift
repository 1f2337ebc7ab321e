import Primitives
import TimerAPI

/// Cuts the bytes of a stream that another server makes into whole events, and takes note of how far they go.
struct RelayedEvents {
    let format: StreamFormat
    /// The newest id that the stream has named: of an event, or in a heartbeat.
    private(set) var examined: EventID?
    /// The number of events so far.
    private(set) var count = 0
    /// The beginning of an event whose rest has not come.
    private var partial: [UInt8] = []

    /// The most bytes that an event may have.
    private static let mostBytes = 1 << 20
    private static let newline = UInt8(ascii: "\n")
    private static let eventPrefix = Array(#"{"id":""#.utf8)
    private static let idPrefix = Array("id: ".utf8)

    init(_ format: StreamFormat) { self.format = format }

    /// Whether an event is longer than one can be.
    var isOverlong: Bool { partial.count > Self.mostBytes }

    /// Takes the bytes that came next, and returns those that a client gets now: whole events and heartbeats.
    mutating func take(_ bytes: Span<UInt8>) -> [UInt8] {
        if partial.isEmpty { return cut(bytes) }
        var text = partial
        text.append(copying: bytes)
        return cut(text.span)
    }

    private mutating func cut(_ text: Span<UInt8>) -> [UInt8] {
        var whole: [UInt8] = []
        // Up to here the bytes are in `whole`, or replaced there.
        var taken = 0
        var start = 0
        var lastID: Int?
        while let end = end(of: text, from: start) {
            switch format {
            case .sse:
                // An id alone is a heartbeat.
                if Self.has(text, Self.idPrefix, at: start) {
                    lastID = start + Self.idPrefix.count
                    if end - start > Self.idPrefix.count + EventID.width + 2 { count += 1 }
                }
            case .ndjson:
                if Self.has(text, Self.eventPrefix, at: start) {
                    lastID = start + Self.eventPrefix.count
                    count += 1
                } else if Self.has(text, StreamFormat.examinedPrefix, at: start) {
                    lastID = start + StreamFormat.examinedPrefix.count
                    whole.append(copying: text.extracting(taken..<start))
                    whole.append(Self.newline)
                    taken = end
                }
            }
            start = end
        }
        whole.append(copying: text.extracting(taken..<start))
        partial = [UInt8](copying: text.extracting(start..<text.count))
        if let lastID, lastID + EventID.width <= start {
            let shown = [UInt8](copying: text.extracting(lastID..<lastID + EventID.width))
            examined = EventID(shown: shown) ?? examined
        }
        return whole
    }

    /// Returns the end of the event or heartbeat that begins at `start`: behind an empty line, or in NDJSON behind any line;
    /// nil if that has not come.
    private func end(of text: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < text.count {
            if text[index] == Self.newline {
                if format == .ndjson { return index + 1 }
                if index + 1 < text.count, text[index + 1] == Self.newline { return index + 2 }
            }
            index += 1
        }
        return nil
    }

    private static func has(_ text: Span<UInt8>, _ prefix: [UInt8], at start: Int) -> Bool {
        guard start + prefix.count <= text.count else { return false }
        for index in prefix.indices where text[start + index] != prefix[index] { return false }
        return true
    }
}
