import CLinux
import Glibc

/// A named POSIX thread that runs one function and can be joined.
///
/// The service owns its threads (I/O loops, committer, alarm): each blocks in the kernel for most of its life, which
/// the shared executor of structured concurrency is not made for.
public final class Thread: Sendable {
    private let handle: pthread_t

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: shown by `top -H`; the first 15 bytes count.
    ///   - body: the function that the thread runs; the thread ends when it returns.
    public init(name: String, _ body: @escaping @Sendable () -> Void) {
        var made = pthread_t()
        let start = unsafe Unmanaged.passRetained(Start(name, body))
        let result = unsafe pthread_create(&made, nil, runThread, start.toOpaque())
        precondition(result == 0, "the process may start its few threads at its start")
        handle = made
    }

    /// Waits until the thread has ended. Call once.
    public func join() {
        pthread_join(handle, nil)
    }

    /// Makes the thread end without being joined. Call once, in place of `join`.
    public func detach() { pthread_detach(handle) }

    fileprivate static func run(_ opaque: UnsafeMutableRawPointer) {
        let start = unsafe Unmanaged<Start>.fromOpaque(opaque).takeRetainedValue()
        unsafe String(start.name.prefix(15)).withCString { name in unsafe clinux_name_thread(name) }
        clinux_timer_slack(1)
        start.body()
    }
}

private func runThread(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let opaque = unsafe opaque { unsafe Thread.run(opaque) }
    return nil
}
