/// Tells live wheel entries from dead ones.
protocol ArmedTimers: ~Copyable {
    /// Whether the entry's timer is armed, with that generation.
    func isArmed(with entry: TimerWheel.Entry) -> Bool
    /// What handing out an entry that is due costs, in entries that are only touched; at least 1.
    func weight(of entry: TimerWheel.Entry) -> Int
}
