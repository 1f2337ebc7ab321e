/// The result of a step of a run over deliveries.
enum DeliveryStep {
    /// There is more to do under the lock.
    case more
    /// Events have to be read from the store.
    case needsEvents(DeliveryEventReading)
    case done
}
