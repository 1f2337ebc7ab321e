/// The next fires of a timer, or the instants at which a watchdog expects a kick: as many as are asked for, found a
/// bounded number at a time, as with a rare cron expression each may lie decades after the one before. The search
/// needs no lock.
public struct UpcomingFires: Sendable {
    /// The most fires that a step looks for.
    public static let stepLimit = 32

    private let plan: Plan
    private let now: Now
    private var next: Int64?
    private let count: Int64
    /// The nominal wall instants found so far, in milliseconds.
    public private(set) var instants: [Int64] = []

    /// The grid that all copies of a search share.
    private final class Plan: Sendable {
        let grid: Grid
        init(_ grid: consuming Grid) { self.grid = grid }
    }

    /// - Parameters:
    ///   - due: the first instant; nil for none.
    ///   - count: the most instants that are wanted.
    init(_ grid: consuming Grid, from due: Int64?, _ now: Now, count: Int64) {
        self.now = now
        self.count = count
        // The fires of a watchdog depend on its kicks. Where it has a schedule, `due` is an instant of that.
        next = grid.rules.schedule.kind == .watchdog && grid.rules.grace == nil ? nil : due
        plan = Plan(grid)
    }

    /// The rules of the timer in plain English; see ``TimerRules/words(in:)``.
    public var words: String { plan.grid.rules.words(in: plan.grid.zone) }

    /// Whether all are found.
    public var isDone: Bool { next == nil }

    /// Finds at most `limit` more.
    public mutating func step(limit: Int = Self.stepLimit) {
        for _ in 0..<limit {
            guard let due = next else { return }
            let rules = plan.grid.rules
            let wall = rules.grace == nil ? now.wall(of: due, on: rules.clock) : due
            guard Int64(instants.count) < count, wall <= rules.until ?? .max, wall <= lastInstant else {
                next = nil
                return
            }
            instants.append(wall)
            next = plan.grid.afterwards(due)
        }
    }

    /// Finds the rest and returns all of them.
    public consuming func all() -> [Int64] {
        while !isDone { step() }
        return instants
    }
}
