public import TimerCore
public import TimerLog

extension Replayer {
    /// A delivery's event, as its record holds it, for an export.
    public struct ExportedEvent {
        /// The delivery.
        public let delivery: DeliveryDetail
        /// The event; its position is its id, wherever its record has moved to.
        public let event: LogRecord
        /// The whole definition of the event's timer at the event.
        public let definition: [UInt8]
        /// The definition of a deleted timer at its deletion; nil for other timers, or where it is not known.
        public let will: [UInt8]?
    }

    /// The export of some deliveries.
    public struct ExportedDeliveries: Sendable {
        /// The bytes that were written.
        public var bytes: [UInt8] = []
        /// The number of deliveries that were written.
        public var count = 0
        /// The deliveries whose events were not at the positions that were given.
        public var missing: [Int64] = []
    }

    /// Reads the events of `deliveries` and passes each to `write`, which appends the bytes that it makes of the event.
    ///
    /// - Parameters:
    ///   - write: called on a replay thread.
    ///   - reply: gets the bytes that were written.
    public func export(
        _ deliveries: [DeliveryDetail], write: @escaping @Sendable (ExportedEvent, inout [UInt8]) -> Void,
        reply: @escaping @Sendable (Result<ExportedDeliveries, StoreError>) -> Void
    ) {
        enqueue { readers in
            var bodies = EventReader { position throws(StoreError) in try readers.row(holding: position) }
            do throws(StoreError) {
                var departed = ExportedDeliveries()
                for delivery in deliveries {
                    guard let (event, data) = try bodies.event(delivery.id, at: delivery.body) else {
                        departed.missing.append(delivery.id)
                        continue
                    }
                    var will: [UInt8]?
                    if let left = delivery.will { will = try bodies.will(at: left.position) }
                    write(
                        ExportedEvent(
                            delivery: delivery, event: event, definition: Array(data[event.definition]), will: will),
                        &departed.bytes)
                    departed.count += 1
                }
                reply(.success(departed))
            } catch {
                reply(.failure(error))
            }
        }
    }
}
