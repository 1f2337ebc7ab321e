package import Platform

/// A loop's sockets of one kind by their tags. No tag is used again while an event of an earlier socket may be
/// pending.
package struct SocketTable<Socket: LoopSocket> {
    private let kind: UInt64
    private var slots: [Socket?] = []
    private var free: [Int] = []
    private var made: UInt64 = 0
    package private(set) var count = 0

    /// - Parameter kind: distinguishes the table's tags from those of another table of the loop; 0 to 3.
    package init(kind: UInt64) { self.kind = kind << 62 }

    var isEmpty: Bool { count == 0 }

    /// The tag of the socket that is inserted next.
    package var nextTag: UInt64 {
        // Lower tags are the loop's own.
        kind | (made & 0x3FFF_FFFF) << 32 | UInt64((free.last ?? slots.count) + Self.reserved)
    }

    private static var reserved: Int { 16 }

    package var all: [Socket] { slots.compactMap { $0 } }

    package subscript(tag: UInt64) -> Socket? {
        let slot = Self.slot(tag)
        guard slots.indices.contains(slot), let socket = slots[slot], socket.tag == tag else { return nil }
        return socket
    }

    /// Inserts a socket that was made with `nextTag`.
    package mutating func insert(_ socket: Socket) {
        made += 1
        count += 1
        if let slot = free.popLast() { slots[slot] = socket } else { slots.append(socket) }
    }

    package mutating func remove(_ tag: UInt64) {
        guard self[tag] != nil else { return }
        slots[Self.slot(tag)] = nil
        free.append(Self.slot(tag))
        count -= 1
    }

    private static func slot(_ tag: UInt64) -> Int {
        Int(tag & 0xFFFF_FFFF) - reserved
    }
}

/// A socket that a loop watches for itself, beside those of the library. Confined to the loop.
package protocol LoopSocket: AnyObject {
    /// The number by which the loop's epoll identifies the socket.
    var tag: UInt64 { get }
    /// Handles the events that the loop's epoll reports of the socket.
    func happened(_ events: Epoll.Events)
    /// Closes the socket at once.
    func close()
}
