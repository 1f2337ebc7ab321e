/// How far a stream has come: it has examined everything up to this position, where an event need not stand. It is no
/// `EventID`: that names an event, or what a client asked for.
struct StreamCursor: Sendable, Comparable, Hashable {
    /// The last position that has been examined.
    private(set) var position: Int64

    init(_ position: Int64) { self.position = position }

    /// A cursor right behind the event named `id`.
    init(behind id: EventID) { position = id.position }

    static func < (left: StreamCursor, right: StreamCursor) -> Bool { left.position < right.position }

    /// What a client names to go on from here.
    var id: EventID { EventID(position) }

    /// Whether what stands at `position` has been examined.
    func covers(_ position: Int64) -> Bool { self.position >= position }

    /// Moves on to `position`, and never back.
    mutating func advance(to position: Int64) { self.position = max(self.position, position) }
}
