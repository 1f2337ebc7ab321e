public import TimerLog

/// An event that an operator should know of, for the operator's log.
public enum ServiceEvent: Sendable {
    /// The log was folded at start.
    case recovered(timers: Int, records: Int, seconds: Double)
    /// The time zones' data have changed since the log was written: so many timers were planned again.
    case timeZonesChanged(timers: Int)
    /// An append failed; changes are refused until storage works again.
    case appendFailed(AppendOutcome)
    /// Storage failed again during its recovery.
    case storageStillFailing(StoreError)
    /// The state of a log was dropped and read from storage again, as the outcome of an append was unknown or not
    /// as expected.
    case logRefolded(seconds: Double)
    /// Changes are taken again.
    case storageRecovered
    /// The storage has lost rows that it had promised to keep. Unless the loss counts as accepted, nothing changes until
    /// `acceptLoss` where this process owns the log, or once it does.
    case rowsLost(LostRows, isOwner: Bool, isAccepted: Bool)
    /// Another process writes the log now; this one has dropped it.
    case fenced
    /// A loop stood still for that many seconds.
    case loopStalled(name: String, seconds: Double)
    /// A receiver sent a command for a timer that is not legal in the timer's state, or not understood.
    case receiverCommandRefused(timer: [UInt8], command: [UInt8])
    /// An event to be delivered could not be read.
    case deliveryUnreadable(StoreError)
    /// A row of old events is not what was written; streams that needed it were cut.
    case eventsUnreadable(StoreError)
    /// The standby could not read the log; it tries again.
    case standbyFailing(StoreError)
    /// The standby reads the log from its start again.
    case standbyFoldsAgain(StandbyBreak)
    /// Old rows could not be compacted.
    case compactionFailed(StoreError)
}
