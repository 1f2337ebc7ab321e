/// The connections whose handshakes have bytes to go on with. Handshakes that have begun come before new ones, which are
/// younger; within both the order is that in which the bytes came.
struct HandshakeQueue {
    private var begun = Line()
    private var new = Line()

    private struct Line {
        private var connections: [SecureConnection?] = []
        private var start = 0

        var isEmpty: Bool { start == connections.count }

        mutating func append(_ connection: SecureConnection) { connections.append(connection) }

        mutating func popFirst() -> SecureConnection? {
            guard !isEmpty else { return nil }
            defer {
                connections[start] = nil
                start += 1
                if isEmpty {
                    connections.removeAll(keepingCapacity: connections.count <= Self.keptCount)
                    start = 0
                } else if start > Self.keptCount, start > connections.count / 2 {
                    connections.removeFirst(start)
                    start = 0
                }
            }
            return connections[start]
        }

        /// The number of places that an empty line keeps.
        private static let keptCount = 256
    }

    var isEmpty: Bool { begun.isEmpty && new.isEmpty }

    mutating func append(_ connection: SecureConnection) {
        if connection.phase == .handshake { begun.append(connection) } else { new.append(connection) }
    }

    mutating func popFirst() -> SecureConnection? { begun.popFirst() ?? new.popFirst() }
}
