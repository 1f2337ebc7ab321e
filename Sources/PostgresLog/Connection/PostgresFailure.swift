public import TimerLog

/// A failure of a statement, or of a connection.
public struct PostgresFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The five characters of the server's SQLSTATE; nil where the server said nothing.
    public var state: String?
    /// One line, without any secret.
    public var description: String
    /// Whether the statement certainly had no effect: the server refused it and went on, or it was never sent.
    /// Otherwise it may have been committed.
    public var isCertain: Bool
    private let given: StoreError.Kind?

    /// Makes a failure; see the members.
    ///
    /// - Parameter kind: the kind for the store, where the state does not determine it.
    public init(_ description: String, state: String? = nil, isCertain: Bool, kind: StoreError.Kind? = nil) {
        self.state = state
        self.description = description
        self.isCertain = isCertain
        given = kind
    }

    /// Whether a row of this key exists already.
    public var isDuplicate: Bool { state == "23505" }
    /// Whether the statement met another one that changes the same rows; repeated, it may succeed.
    public var isCollision: Bool { state == "40001" || state == "40P01" }
    /// Whether the statement waited too long for a lock.
    public var isLockTimeout: Bool { state == "55P03" }
    /// Whether the server takes no writes: it is a standby by now, say.
    var isReadOnly: Bool { state == "25006" }
    /// Whether a table, column or schema is missing.
    public var isMissingTable: Bool { state == "42P01" || state == "42703" || state == "3F000" }

    /// The kind of trouble for the store; trouble that can pass by itself is `unavailable`.
    public var kind: StoreError.Kind {
        if let given { return given }
        guard let state else { return .unavailable }
        switch state {
        case "53100": return .full
        case "XX001", "XX002": return .damaged
        case "28000", "28P01", "3D000", "42501", "42P01", "42703", "3F000": return .unusable
        case "25006", "55P03", "55006", "57014": return .unavailable
        default: break
        }
        return switch state.prefix(2) {
        case "08", "40", "53", "57": .unavailable
        default: .io
        }
    }

    /// Returns the failure as the log's error; `activity` completes "while …".
    public func storeError(_ activity: String) -> StoreError {
        let code = state.map { " (SQLSTATE \($0))" } ?? ""
        return StoreError(kind, "PostgreSQL: \(description)\(code), while \(activity)")
    }
}

extension PostgresFailure {
    /// Returns the failure as the log's error while a server runs: a login or database that was right at its start,
    /// and can be right again, is `unavailable`.
    func passingError(_ activity: String) -> StoreError {
        var error = storeError(activity)
        if let state, state.hasPrefix("28") || state == "3D000" { error.kind = .unavailable }
        return error
    }
}

/// Detects a pooler that hands each transaction of a connection to another backend.
enum PoolerCheck {
    private static let statement = PostgresStatement(
        "timerd_backend", "SELECT pg_backend_pid(), current_setting('plan_cache_mode')")

    /// Throws `unusable` where two statements of a connection run in different backends, or those of two
    /// connections in the same one.
    static func verify(_ one: PostgresConnection, _ other: PostgresConnection) throws(PostgresFailure) {
        let first = try one.run(statement).integer(0, 0)
        let second = try other.run(statement).integer(0, 0)
        let again = try one.run(statement)
        guard first == one.backend, first != second, again.integer(0, 0) == first,
            again.text(0, 1) == "force_generic_plan"
        else { throw failure }
    }

    /// The failure of a connection through such a pooler.
    static let failure = PostgresFailure(
        "a pooler hands each transaction to another backend; timerd needs a direct connection, or a pooler of sessions",
        isCertain: true, kind: .unusable)
}
