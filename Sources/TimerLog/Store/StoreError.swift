/// Why a store could not do what it was asked.
public struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of trouble, as far as a caller acts on it.
    public enum Kind: Sendable, Equatable {
        /// The device has no room.
        case full
        /// The device failed, or the file system refused.
        case io
        /// The storage can't be reached, or takes nothing for now; what was asked may work later, and nothing is wrong with
        /// what is stored.
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

    /// What kind of trouble.
    public var kind: Kind
    /// One line for a log or an operator.
    public var description: String

    /// Makes an error.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
