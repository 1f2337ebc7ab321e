package import Platform

/// A socket that a loop watches for itself, beside those of the library. Confined to the loop.
package protocol LoopSocket: AnyObject {
    /// The number by which the loop's epoll identifies the socket.
    var tag: UInt64 { get }
    /// Handles the events that the loop's epoll reports of the socket.
    func happened(_ events: Epoll.Events)
    /// Closes the socket at once.
    func close()
}
