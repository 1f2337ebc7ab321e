import WireJSON

/// The command to the timer in `Timer-Command`, a response header of a delivery's receiver.
public enum TimerCommandHeader: Sendable, Equatable {
    /// `cancel`.
    case cancel
    /// `suspend`.
    case suspend
    /// `reschedule=<duration>`; in milliseconds, 0 to `DurationText.maximum`, and whether it is written in days.
    case reschedule(Int64, inDays: Bool = false)

    private static let longestValue = 128

    /// Reads the header's value: a command in upper or lower case, with blanks around it and around the `=`. Nil where
    /// it is malformed, as a value of several commands is.
    public init?(_ value: [UInt8]) {
        guard value.count <= Self.longestValue, value.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 < 0x7F }) else {
            return nil
        }
        let parts = value.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            .map(Self.trimmed)
        let word = String(decoding: parts[0], as: UTF8.self).lowercased()
        switch (word, parts.count) {
        case ("cancel", 1): self = .cancel
        case ("suspend", 1): self = .suspend
        case ("reschedule", 2):
            let text = Array(parts[1])
            guard let milliseconds = try? DurationText.parse(text) else { return nil }
            self = .reschedule(milliseconds, inDays: DurationText.isInDays(text[...]))
        default: return nil
        }
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = text.firstIndex { !isBlank($0) } ?? text.endIndex
        let end = text.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
        return text[start..<end]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
