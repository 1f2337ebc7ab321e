package import TimerCore

/// Everything a scheduler holds that a log must bring back.
package struct SchedulerCopy: Equatable {
    package var timers: [String: TimerCopy] = [:]
    package var deliveries: [Int64: DeliveryCopy] = [:]
    package var versionFloor: Int64

    package init(_ scheduler: borrowing Scheduler) {
        versionFloor = scheduler.versionFloor
        var slots: [SlotIndex] = []
        scheduler.walk(after: nil, over: .all) { _, slot in
            slots.append(slot)
            return true
        }
        for slot in slots {
            let definition = scheduler.withDefinition(slot) { bytes in bytes.indices.map { bytes[$0] } }
            var id: [UInt8] = []
            Definition.appendID(definition.span, to: &id)
            timers[String(decoding: id, as: UTF8.self)] = TimerCopy(
                progress: scheduler.progress(slot), kicks: scheduler.kicks(slot), definition: definition,
                lastEvent: scheduler.lastEvent(slot),
                base: scheduler.base(slot), pending: scheduler.pendingDeliveries(of: slot).sorted())
        }
        let now = Now(elapsed: 0, wallOffset: 0)
        for dead in [false, true] {
            scheduler.walkDeliveries(after: .min, dead: dead, now) { hash, detail in
                deliveries[detail.id] = DeliveryCopy(detail, hash: hash)
                return true
            }
        }
    }

    /// The differences from `other`, in words.
    package func differences(from other: SchedulerCopy) -> [String] {
        var differences = versionFloor == other.versionFloor ? [] : ["floor \(versionFloor), not \(other.versionFloor)"]
        for id in Set(timers.keys).union(other.timers.keys).sorted() where timers[id] != other.timers[id] {
            differences.append("\(id): \(Self.words(timers[id], other.timers[id]))")
        }
        for id in Set(deliveries.keys).union(other.deliveries.keys).sorted()
        where deliveries[id] != other.deliveries[id] {
            differences.append("delivery \(id): \(Self.words(deliveries[id], other.deliveries[id]))")
        }
        return differences
    }

    /// The members in which two values differ.
    private static func words<Value>(_ value: Value?, _ other: Value?) -> String {
        guard let value, let other else { return value == nil ? "missing" : "too many" }
        return zip(Mirror(reflecting: value).children, Mirror(reflecting: other).children)
            .filter { "\($0.value)" != "\($1.value)" }
            .map { "\($0.label ?? "") \($0.value), not \($1.value)" }.joined(separator: "; ")
    }

    /// A timer by its id.
    package subscript(_ id: String) -> TimerCopy? { timers[id] }
}
