/// A loop's detached sockets by their tags. No tag is used again while an event of an earlier socket may be at hand.
struct SocketTable {
    private var slots: [DetachedSocket?] = []
    private var free: [Int] = []
    private var made: UInt64 = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The tag of the socket that is inserted next.
    var nextTag: UInt64 {
        // Tags below are the loop's own.
        (made & 0xFFFF_FFFF) << 32 | UInt64((free.last ?? slots.count) + Self.reserved)
    }

    private static let reserved = 16

    var all: [DetachedSocket] { slots.compactMap { $0 } }

    subscript(tag: UInt64) -> DetachedSocket? {
        let slot = Self.slot(tag)
        guard slots.indices.contains(slot), let socket = slots[slot], socket.tag == tag else { return nil }
        return socket
    }

    /// Inserts one that was made with `nextTag`.
    mutating func insert(_ socket: DetachedSocket) {
        made += 1
        count += 1
        if let slot = free.popLast() { slots[slot] = socket } else { slots.append(socket) }
    }

    mutating func remove(_ tag: UInt64) {
        guard self[tag] != nil else { return }
        slots[Self.slot(tag)] = nil
        free.append(Self.slot(tag))
        count -= 1
    }

    private static func slot(_ tag: UInt64) -> Int {
        Int(tag & 0xFFFF_FFFF) - reserved
    }
}
