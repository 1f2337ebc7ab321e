package import Platform

extension Guarded {
    /// A copy of the state.
    package var value: State { withLock { $0 } }
}
