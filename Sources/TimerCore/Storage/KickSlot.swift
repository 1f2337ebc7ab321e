/// The part of a watchdog that is kept beside its slot.
struct KickSlot: BitwiseCopyable {
    var progress = KickProgress()
    /// The position with which the record of the newest kick is durable; 0 before the first.
    var lastRecord: Int64 = 0
}
