import Platform
import Testing

/// A condition did not come true in time.
struct TimedOut: Error, CustomStringConvertible {
    var description: String
}

/// Waits until `condition` is true; throws after a time in which it surely should have been.
func eventually(_ description: String, _ condition: () throws -> Bool) throws {
    let lock = Lock()
    let end = Clocks.monotonic() + 30_000_000_000
    while try !condition() {
        guard Clocks.monotonic() < end else { throw TimedOut(description: description) }
        lock.withLock { _ = lock.wait(nanoseconds: 500_000) }
    }
}

/// A value that threads share.
final class Shared<Value>: @unchecked Sendable {  // unchecked: touched only under `lock`
    private let lock = Lock()
    private var held: Value

    init(_ value: Value) { held = value }

    var value: Value { lock.withLock { held } }

    func change<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&held) } }
}

/// Work on a thread of its own, which can be waited for with an end.
final class Background: Sendable {
    private let done = Shared(false)
    private let thread: Thread

    init(_ body: @escaping @Sendable () -> Void) {
        thread = Thread(name: "background") { [done] in
            body()
            done.change { $0 = true }
        }
    }

    var isDone: Bool { done.value }

    func finish(_ description: String) throws {
        try eventually(description) { isDone }
        thread.join()
    }
}
