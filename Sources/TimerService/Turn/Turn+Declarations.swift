import Primitives
public import TimerCore

/// Declarations: a timer is made, or changed in what differs from the declared one.
extension Turn {
    /// Throws unless the conditions of a PUT hold.
    ///
    /// - Parameters:
    ///   - slot: the timer's slot; nil where it does not exist.
    ///   - unwanted: a condition that refuses the request where it holds for the timer.
    public func checkConditions(
        _ slot: SlotIndex?, if condition: VersionCondition, unless unwanted: VersionCondition
    ) throws(ServiceError) {
        guard let slot else {
            if condition != .none { throw .refused(.versionMismatch(current: nil)) }
            return
        }
        let version = engine.scheduler.progress(slot).version
        if unwanted.names(version) { throw .refused(.versionMismatch(current: version)) }
        do throws(TimerRefusal) { try condition.check(version) } catch { throw .refused(error) }
    }

    /// Whether the timer at `slot` has `definition`, apart from when it was made.
    public func holds(_ slot: SlotIndex, _ definition: [UInt8]) -> Bool {
        engine.scheduler.holds(slot, definition.span)
    }

    /// Returns a copy of the definition of the timer at `slot`, encoded.
    public func definition(of slot: SlotIndex) -> [UInt8] {
        var definition: [UInt8] = []
        engine.scheduler.withDefinition(slot) { definition.append(copying: $0) }
        // The cost includes the caller's: it compares the definition's parts.
        engine.spent += 1 + definition.count / EngineConfiguration.bytesPerChange
        return definition
    }

    /// Changes the timer at `slot` to what its client declares; see `Scheduler.declare`.
    public func declare(_ slot: SlotIndex, definition: inout [UInt8]) throws(ServiceError) {
        let startsWebhook = engine.changesStoppedWebhook(slot, definition)
        _ = try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.declare(slot, definition: &definition, startsWebhook: startsWebhook, now, &effects)
        }
    }

    /// Throws the refusal that a declaration would get for what it asks, and changes nothing.
    ///
    /// - Parameter slot: the timer's slot; nil where it does not exist.
    public func checkDeclaration(_ slot: SlotIndex?, _ definition: [UInt8]) throws(ServiceError) {
        do throws(TimerRefusal) {
            try engine.scheduler.checkDeclaration(slot, definition.span, now)
        } catch {
            throw .refused(error)
        }
    }
}
