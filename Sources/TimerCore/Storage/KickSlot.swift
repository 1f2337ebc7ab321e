/// What the table keeps of a watchdog beside its slot.
struct KickSlot: BitwiseCopyable {
    var progress = KickProgress()
    /// Position that the record of the newest kick is durable with, 0 before the first.
    var lastRecord: Int64 = 0
}
