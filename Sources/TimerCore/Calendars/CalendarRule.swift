/// The calendar that a timer goes by.
public struct CalendarRule: Sendable, Equatable {
    /// The calendar's name.
    public var name: CalendarName
    /// The place of due instants in closed time; `skip` for a timer that counts working time, which has none.
    public var onClosed: ClosedPolicy

    /// Describes a rule; see the members.
    public init(_ name: CalendarName, onClosed: ClosedPolicy) {
        self.name = name
        self.onClosed = onClosed
    }

    /// Appends the rule's bytes: the name with its length, then a byte for the policy.
    func append(to bytes: inout [UInt8]) {
        ByteCoding.append(run: name.bytes, to: &bytes)
        bytes.append(onClosed.rawValue)
    }

    /// Reads what `append` wrote and moves `offset` past it; nil when there is no rule.
    init?(_ bytes: Span<UInt8>, _ offset: inout Int) {
        guard let name = ByteCoding.readRun(bytes, &offset).flatMap({ CalendarName($0) }),
            let policy = ByteCoding.readFixed(bytes, &offset, count: 1).flatMap({ ClosedPolicy(rawValue: UInt8($0)) })
        else { return nil }
        self.init(name, onClosed: policy)
    }
}
