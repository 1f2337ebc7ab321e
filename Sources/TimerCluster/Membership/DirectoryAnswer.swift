public import TimerLog

/// The outcome of a call to the directory.
public enum DirectoryAnswer: Sendable, Equatable {
    case done
    case view(ClusterView)
    case ended(Bool)
    case take(TakeOutcome)
    case count(Int)
    /// The call failed; it may have had its effect all the same.
    case failed(StoreError)
}
