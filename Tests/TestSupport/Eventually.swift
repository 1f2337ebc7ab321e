import Platform

/// Waits until `condition` is true; throws after `Patience`.
package func eventually(_ description: String, _ condition: () throws -> Bool) throws {
    let lock = Lock()
    let end = Clocks.monotonic() + Patience.nanoseconds
    while try !condition() {
        guard Clocks.monotonic() < end else { throw TimedOut(description: description) }
        lock.withLock { _ = lock.wait(nanoseconds: 500_000) }
    }
}
