/// Situations that histories must reach, or they prove nothing.
enum Milestone: CaseIterable {
    /// A receiver's command was obeyed; a result counted although the log was folded again since its attempt began.
    case receiverCommand, lateResult
    /// A client dropped a delivery; one that a client redrove was sent.
    case drop, redelivery
    /// A deletion or replacement of rows failed, after it was made or before; the store could not be opened after it.
    case failedChange, failedChangeMade, shutStore
    /// A list was read to its end by pages, of all timers and of a label's.
    case list, labelList
    /// A keyed request was still under way when its key came again; one was cut off by a crash.
    case keyInProgress, keyCutOff
    /// A calendar was deleted; one could not be, as timers went by it.
    case calendarDeleted, calendarInUse
}
