import Platform

/// Waits until `condition` is true; throws after 30 seconds.
package func eventually(_ description: String, _ condition: () throws -> Bool) throws {
    let lock = Lock()
    let end = Clocks.monotonic() + 30_000_000_000
    while try !condition() {
        guard Clocks.monotonic() < end else { throw TimedOut(description: description) }
        lock.withLock { _ = lock.wait(nanoseconds: 500_000) }
    }
}
