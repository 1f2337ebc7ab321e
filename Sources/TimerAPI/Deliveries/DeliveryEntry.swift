import TimerCore
import TimerService

/// A delivery with its event, once that is read.
struct DeliveryEntry {
    var detail: DeliveryDetail
    var event: OwedEvent?
    /// Whether the delivery's timer is deleted.
    var isTimerDeleted = false
}
