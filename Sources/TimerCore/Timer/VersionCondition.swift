/// A condition on a timer's version that a change depends on.
public enum VersionCondition: Sendable, Equatable {
    /// No condition.
    case none
    /// One of these.
    case oneOf([Int64])
    /// There is a timer.
    case exists

    /// Throws unless it holds for a timer at `version`.
    public func check(_ version: Int64) throws(TimerRefusal) {
        if case .oneOf(let versions) = self, !versions.contains(version) {
            throw .versionMismatch(current: version)
        }
    }

    /// Whether it names `version`, that of an existing timer.
    public func names(_ version: Int64) -> Bool {
        switch self {
        case .none: false
        case .oneOf(let versions): versions.contains(version)
        case .exists: true
        }
    }
}
