/// The position up to which a stream has examined everything; there need not be an event at it. An `EventID` differs:
/// it names an event, or the point from which a client asked to go on.
struct StreamCursor: Sendable, Comparable, Hashable {
    /// The last position that has been examined.
    private(set) var position: Int64

    init(_ position: Int64) { self.position = position }

    /// Makes a cursor right after the event named `id`.
    init(behind id: EventID) { position = id.position }

    static func < (left: StreamCursor, right: StreamCursor) -> Bool { left.position < right.position }

    /// The id that a client names to go on from here.
    var id: EventID { EventID(position) }

    /// Whether the record at `position` has been examined.
    func covers(_ position: Int64) -> Bool { self.position >= position }

    /// Advances the cursor to `position`, and never back.
    mutating func advance(to position: Int64) { self.position = max(self.position, position) }
}
