import Platform

/// Work on a thread of its own, which a test can wait for with a time limit.
package final class Background: Sendable {
    private let done = Guarded(false)
    private let thread: Thread

    package init(_ body: @escaping @Sendable () -> Void) {
        thread = Thread(name: "background") { [done] in
            body()
            done.withLock { $0 = true }
        }
    }

    package var isDone: Bool { done.value }

    package func finish(_ description: String) throws {
        try eventually(description) { isDone }
        thread.join()
    }
}
