import TimerCore
import TimerService

/// A delivery with its event, once that is read.
struct DeliveryEntry {
    var standing: DeliveryStanding
    var event: OwedEvent?
    /// Whether the delivery's timer is deleted.
    var hasLostTimer = false
}
