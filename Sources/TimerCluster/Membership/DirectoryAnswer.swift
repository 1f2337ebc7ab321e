public import TimerLog

/// What came of a call to the directory.
public enum DirectoryAnswer: Sendable, Equatable {
    case done
    case view(ClusterView)
    case ended(Bool)
    case take(TakeOutcome)
    case count(Int)
    /// It may have had its effect all the same.
    case failed(StoreError)
}
