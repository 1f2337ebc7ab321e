/// The calendar that a timer goes by.
public struct CalendarRule: Sendable, Equatable {
    /// The calendar's name.
    public var name: CalendarName
    /// The place of due instants in closed time; `skip` for a timer that counts working time, which has none.
    public var onClosed: ClosedPolicy
    /// The nominal instants of the timer's schedule that do not fire again, which no client sets.
    public var spent = SpentInstants()

    /// The bit beside the policy's byte with which spent instants follow.
    private static let spentBit: UInt8 = 0x80

    /// Describes a rule; see the members.
    public init(_ name: CalendarName, onClosed: ClosedPolicy) {
        self.name = name
        self.onClosed = onClosed
    }

    /// The rule as its client set it.
    var asSet: CalendarRule { CalendarRule(name, onClosed: onClosed) }

    /// Appends the rule's bytes: the name with its length, a byte for the policy, and spent instants if there are any.
    func append(to bytes: inout [UInt8]) {
        ByteCoding.append(run: name.bytes, to: &bytes)
        bytes.append(onClosed.rawValue | (spent.isEmpty ? 0 : Self.spentBit))
        if !spent.isEmpty { spent.append(to: &bytes) }
    }

    /// Reads what `append` wrote and moves `offset` past it; nil when there is no rule.
    init?(_ bytes: Span<UInt8>, _ offset: inout Int) {
        guard let name = ByteCoding.readRun(bytes, &offset).flatMap({ CalendarName($0) }),
            let byte = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }),
            let policy = ClosedPolicy(rawValue: byte & ~Self.spentBit)
        else { return nil }
        self.init(name, onClosed: policy)
        guard byte & Self.spentBit != 0 else { return }
        guard let spent = SpentInstants(bytes, &offset), !spent.isEmpty else { return nil }
        self.spent = spent
    }
}
