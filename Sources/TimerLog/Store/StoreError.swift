/// An error of a store: a kind by which callers act, and a description.
public struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of trouble that callers tell apart.
    public enum Kind: Sendable, Equatable {
        /// The device has no room.
        case full
        /// The device failed, or the file system refused.
        case io
        /// The storage can't be reached, or accepts nothing for now; the call may succeed later, and nothing is
        /// wrong with the stored data.
        case unavailable
        /// Another node owns the log.
        case fenced
        /// The storage has lost rows that it had promised to keep; `description` names them.
        case lost
        /// The stored bytes can't be right; `description` names where.
        case damaged
        /// Another process holds the data directory.
        case inUse
        /// The directory or file can't be used at all (permissions, not a database, a newer format).
        case unusable
    }

    /// The kind of trouble.
    public var kind: Kind
    /// A line for a log or an operator.
    public var description: String

    /// Makes an error.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
