/// What a step of a run over deliveries came to.
enum DeliveryStep {
    /// There is more to do under the lock.
    case more
    /// Events have to be read.
    case needsEvents(DeliveryEventReading)
    case done
}
