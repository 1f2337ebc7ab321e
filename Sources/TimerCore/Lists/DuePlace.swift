extension Scheduler {
    /// A place in the order of soonest due: the wall instant in milliseconds, then the place in list order.
    public struct DuePlace: Comparable, Sendable {
        /// The due instant, in wall milliseconds.
        public var due: Int64
        /// The place in list order.
        public var place: UInt64

        /// Makes a place; see the members.
        public init(due: Int64, place: UInt64) {
            self.due = due
            self.place = place
        }

        /// Orders by due instant, then by list order.
        public static func < (left: DuePlace, right: DuePlace) -> Bool {
            (left.due, left.place) < (right.due, right.place)
        }
    }
}
