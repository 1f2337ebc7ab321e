/// The form of a line of the log.
enum LogFormat: String, CaseIterable, Sendable {
    /// `2026-11-21T09:00:00.000Z info  message key=value`.
    case text
    /// One object a line: `time`, `level`, `message`, then the metadata.
    case json
}
