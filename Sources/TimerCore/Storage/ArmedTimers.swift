/// The timers of a wheel, which distinguish its live entries from dead ones.
protocol ArmedTimers: ~Copyable {
    /// Whether the entry's timer is armed, with that generation.
    func isArmed(with entry: TimerWheel.Entry) -> Bool
    /// Returns the cost of handing out an entry that is due, in entries that are only touched; at least 1.
    func weight(of entry: TimerWheel.Entry) -> Int
}
