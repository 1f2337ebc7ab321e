import Platform

/// A handler on its way to a loop that another one has served so far.
final class HandOver: @unchecked Sendable {  // unchecked: `next` is guarded by `lock`, and then the loop's alone
    private let lock = Lock()
    private var next: (any LoopHandler)?

    /// Leaves `handler` for the loop. Any thread.
    func leave(_ handler: any LoopHandler) { lock.withLock { next = handler } }

    /// Takes the handler that was left, if one was. On the loop's thread.
    func take() -> (any LoopHandler)? {
        lock.withLock {
            defer {
                next = nil
                lock.broadcast()
            }
            return next
        }
    }

    /// Waits until the loop has taken what was left for it. Not on the loop's thread.
    func waitUntilTaken() {
        lock.withLock {
            while next != nil { lock.wait() }
        }
    }
}
