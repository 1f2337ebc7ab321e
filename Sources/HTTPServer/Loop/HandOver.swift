import Platform

/// Hands a new handler to a loop, in place of the one that served it so far.
final class HandOver: @unchecked Sendable {  // unchecked: a handler is not touched by the thread that has left it
    private let next = Guarded<(any LoopHandler)?>(nil)

    /// Leaves `handler` for the loop. May be called on any thread.
    func leave(_ handler: any LoopHandler) { next.withLock { $0 = handler } }

    /// Takes the handler that was left, if there is one. Called on the loop's thread only.
    func take() -> (any LoopHandler)? {
        next.update { next in
            defer { next = nil }
            return next
        }
    }

    /// Waits until the loop has taken the handler that was left for it. Must not be called on the loop's thread.
    func waitUntilTaken() {
        next.wait { $0 == nil ? () : nil }
    }
}
