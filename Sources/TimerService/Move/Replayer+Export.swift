public import TimerCore
public import TimerLog

extension Replayer {
    /// A delivery's event as its record tells it, for an export.
    public struct DepartingEvent {
        /// The delivery.
        public let delivery: DeliveryStanding
        /// The event; its position is the id that it has everywhere.
        public let event: LogRecord
        /// The definition of its timer, whole, as it was then.
        public let definition: [UInt8]
        /// Of a deleted timer: its definition as it was at the deletion, where that is known.
        public let will: [UInt8]?
    }

    /// What was written of some deliveries.
    public struct Departed: Sendable {
        /// What was written.
        public var bytes: [UInt8] = []
        /// Of how many.
        public var count = 0
        /// Those whose events were not where they were said to be.
        public var missing: [Int64] = []
    }

    /// Reads the events of `deliveries` and hands each to `write`, which appends what it makes of it.
    ///
    /// - Parameters:
    ///   - write: called by a replay thread.
    ///   - reply: gets what was written.
    public func export(
        _ deliveries: [DeliveryStanding], write: @escaping @Sendable (DepartingEvent, inout [UInt8]) -> Void,
        reply: @escaping @Sendable (Result<Departed, StoreError>) -> Void
    ) {
        enqueue { readers in
            var bodies = EventBodies { position throws(StoreError) in try readers.row(holding: position) }
            do throws(StoreError) {
                var departed = Departed()
                for delivery in deliveries {
                    guard let (event, data) = try bodies.event(delivery.id, at: delivery.body) else {
                        departed.missing.append(delivery.id)
                        continue
                    }
                    var will: [UInt8]?
                    if let left = delivery.will { will = try bodies.will(at: left.position) }
                    write(
                        DepartingEvent(
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
