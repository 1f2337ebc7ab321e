/// The one table of the events that are possible in each state of a delivery, and of the states they lead to.
public enum DeliveryMachine {
    /// Returns the state that `event` leads to from `state`; nil if it can't happen there.
    public static func next(_ event: DeliveryEvent, in state: DeliveryState) -> DeliveryState? {
        table[event.rawValue][Int(state.rawValue)]
    }

    // Rows are in the order of `DeliveryEvent`, columns in that of `DeliveryState`.
    private static let table: [[DeliveryState?]] = [
        // pending, in flight, waiting, delivered, dead, stopped
        [.inFlight, nil, nil, nil, nil, nil],  // started
        [nil, .delivered, nil, nil, nil, nil],  // delivered
        [nil, .waiting, nil, nil, nil, nil],  // failed
        [nil, .dead, nil, nil, nil, nil],  // exhausted
        [nil, .stopped, nil, nil, nil, nil],  // refused
        [nil, .waiting, nil, nil, nil, nil],  // postponed
        [nil, nil, .pending, nil, nil, nil],  // due
        [.dead, nil, .dead, nil, nil, nil],  // overflowed
        [nil, nil, nil, nil, .pending, nil],  // redriven
        [.stopped, .stopped, .stopped, nil, .stopped, nil],  // dropped
        [.inFlight, nil, .inFlight, nil, nil, nil],  // rejoined
    ]
}
