/// A lock that owns the state it guards: the state can't be touched without it.
///
/// Threads may also wait until the state is as they need it. A change that lets a waiting thread go on has to be
/// made by `update`.
public final class Guarded<State: ~Copyable> {
    @usableFromInline let lock = Lock()
    @usableFromInline var state: State

    /// Guards `state`, which nothing else refers to.
    public init(_ state: consuming State) { self.state = state }

    /// Runs `body` with the state. Not recursive.
    @inlinable
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    /// Runs `body` with the state, and wakes every waiting thread, so that it checks the state again.
    @inlinable
    public func update<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer {
            lock.broadcast()
            lock.unlock()
        }
        return try body(&state)
    }

    /// Runs `body` with the state, now and after each `update`, until it returns a value. The lock is free between
    /// these runs.
    ///
    /// `body` may change the state, but a change that it makes before it returns nil wakes no other thread.
    @inlinable
    public func wait<Result: ~Copyable>(_ body: (inout State) -> Result?) -> Result {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let result = body(&state) { return result }
            lock.wait()
        }
    }

    /// Waits like `wait(_:)`, for at most `nanoseconds`; returns nil when the time ran out and `body` still
    /// returned nil.
    @inlinable
    public func wait<Result: ~Copyable>(nanoseconds: Int64, _ body: (inout State) -> Result?) -> Result? {
        let end = Clocks.monotonic() + max(0, nanoseconds)
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let result = body(&state) { return result }
            let left = end - Clocks.monotonic()
            guard left > 0 else { return nil }
            _ = lock.wait(nanoseconds: left)
        }
    }
}

// unchecked: the lock guards the state, which may itself go from thread to thread.
extension Guarded: @unchecked Sendable where State: ~Copyable & Sendable {}
