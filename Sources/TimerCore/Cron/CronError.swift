/// Why a cron expression was refused, in one line that names the field.
public struct CronError: Error, Sendable, Equatable {
    /// The line, such as `minute: 61 is not in 0-59`. Printable ASCII whatever the expression held.
    public let message: String

    init(_ message: String) { self.message = message }

    /// Text from outside as a message may show it: cut short, and printable.
    static func quote(_ text: some Sequence<UInt8>) -> String {
        let limit = 32
        var shown = text.prefix(limit + 1).map { byte in (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: "?") }
        if shown.count > limit { shown.replaceSubrange((limit - 3)..., with: "...".utf8) }
        return "'\(String(decoding: shown, as: UTF8.self))'"
    }
}
