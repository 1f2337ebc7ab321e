/// The reason a recurrence rule was refused, in one line that names the part.
public struct RecurrenceError: Error, Sendable, Equatable {
    /// The line, such as `BYMONTH: 13 is not in 1-12`, of visible characters and spaces, whatever the rule held.
    public let message: String

    init(_ message: String) { self.message = message }
}
