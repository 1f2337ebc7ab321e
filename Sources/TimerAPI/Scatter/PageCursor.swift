import TimerCore

/// A place between the members of a list, in the list's order.
protocol PageCursor: Comparable {
    /// As a client is shown it.
    var text: String { get }
}

extension EventID: PageCursor {}

extension ListCursor: PageCursor {
    /// The order of one list; cursors of different lists have none.
    static func < (left: ListCursor, right: ListCursor) -> Bool {
        switch (left, right) {
        case (.place(let left), .place(let right)): left < right
        case (.due(let left), .due(let right)): left < right
        case (.place, .due): true
        case (.due, .place): false
        }
    }
}
