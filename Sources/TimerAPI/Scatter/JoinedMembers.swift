/// A page that was joined from parts.
struct JoinedMembers<Cursor: PageCursor> {
    /// The JSON of each member, in the order of their cursors.
    var members: [ArraySlice<UInt8>] = []
    /// What everything on the page reflects: all up to this event.
    let head: EventID?
    /// Where the next page begins; nil when there is none.
    var next: Cursor?

    init(head: EventID?, next: Cursor?) { (self.head, self.next) = (head, next) }
}
