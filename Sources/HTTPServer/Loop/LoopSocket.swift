package import Platform

/// A socket that a loop watches for itself, beside those of the library. Confined to the loop.
package protocol LoopSocket: AnyObject {
    /// Identifies it to the loop's epoll.
    var tag: UInt64 { get }
    /// What the loop's epoll reports of it.
    func happened(_ events: Epoll.Events)
    /// Closes at once.
    func close()
}
