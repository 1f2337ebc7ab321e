/// A condition on a timer's version that a change depends on.
public enum VersionCondition: Sendable, Equatable {
    /// No condition.
    case none
    /// The version is one of these.
    case oneOf([Int64])
    /// The timer exists.
    case exists

    /// Throws unless the condition holds for a timer at `version`.
    public func check(_ version: Int64) throws(TimerRefusal) {
        if case .oneOf(let versions) = self, !versions.contains(version) {
            throw .versionMismatch(current: version)
        }
    }

    /// Whether the condition names `version`, that of an existing timer.
    public func names(_ version: Int64) -> Bool {
        switch self {
        case .none: false
        case .oneOf(let versions): versions.contains(version)
        case .exists: true
        }
    }
}
