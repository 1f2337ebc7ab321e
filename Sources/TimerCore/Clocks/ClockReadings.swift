/// An instant on each clock, in milliseconds; initially `Int64.min`, before every other.
struct ClockReadings: Equatable {
    private var continuous = Int64.min
    private var wall = Int64.min
    private var suspending = Int64.min

    subscript(clock: TimerClock) -> Int64 {
        get {
            switch clock {
            case .continuous: continuous
            case .wall: wall
            case .suspending: suspending
            }
        }
        set {
            switch clock {
            case .continuous: continuous = newValue
            case .wall: wall = newValue
            case .suspending: suspending = newValue
            }
        }
    }
}
