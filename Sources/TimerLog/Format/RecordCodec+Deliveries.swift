import Primitives
public import TimerCore

/// The bytes of deliveries and of their outcomes.
///
/// ```
/// outcome    as every event's: kind, reason, distance, instant; then the delivery's id (8 bytes), attempt, status,
///            why there was no answer (a byte, 0 for none), milliseconds to the next attempt, the timer's version
/// delivery   the record's instant; the delivery's id (8 bytes), state (3 bits) with flags; with `originFlag` the id
///            that the event has on another server (8 bytes); attempts (7 bits) with two bits for the reason of a
///            death and `redrivenFlag`, milliseconds to the due instant, status of the last answer; with
///            `lastAttemptFlag` why there was none (a byte) and milliseconds since the last attempt ended; with
///            `redrivenFlag` milliseconds since the redrive; then the event's record without frame, or the
///            definition of the timer that the delivery belongs to, or the prefix of one
/// will       the record's instant; a byte, 1 where the timer took deliveries; the timer's definition
/// ```
extension RecordCodec {
    private static let stateMask: UInt8 = 7
    private static let timerlessFlag: UInt8 = 8
    private static let surplusFlag: UInt8 = 16
    private static let eventFlag: UInt8 = 32
    private static let lastAttemptFlag: UInt8 = 64
    private static let originFlag: UInt8 = 128
    private static let attemptsMask: UInt64 = 127
    private static let statusDeath: UInt64 = 1 << 7
    private static let ageDeath: UInt64 = 2 << 7
    private static let deathMask: UInt64 = 3 << 7
    private static let redrivenFlag: UInt64 = 1 << 9

    /// Appends the record of the event that reports an outcome.
    ///
    /// - Parameters:
    ///   - version: the timer's version, which deliveries do not change.
    ///   - distance: positions since the timer's previous event; 0 when there is none.
    ///   - definition: the timer's definition, or the prefix of it; empty where it is not known.
    public static func append(
        _ outcome: DeliveryOutcome, version: Int64, distance: Int64, at: Int64, definition: Span<UInt8>,
        to bytes: inout [UInt8]
    ) {
        let start = beginFrame(&bytes)
        bytes.append(outcome.type.rawValue | (outcome.isDetached ? detachedFlag : 0))
        bytes.append(outcome.reason.rawValue)
        ByteCoding.append(UInt64(distance), to: &bytes)
        ByteCoding.append(signed: at, to: &bytes)
        appendFixed(UInt64(bitPattern: outcome.delivery), count: 8, to: &bytes)
        ByteCoding.append(UInt64(outcome.attempt), to: &bytes)
        ByteCoding.append(UInt64(outcome.status), to: &bytes)
        bytes.append(outcome.failure?.rawValue ?? 0)
        ByteCoding.append(signed: outcome.retryAt == 0 ? 0 : outcome.retryAt &- at, to: &bytes)
        ByteCoding.append(signed: version, to: &bytes)
        bytes.append(copying: definition.extracting(0..<(Definition.prefixCount(definition) ?? 0)))
        endFrame(start, &bytes)
    }

    /// Appends the record of a delivery's state.
    ///
    /// - Parameters:
    ///   - isEvent: whether `rest` is the record of the delivery's event, without frame; else it is the definition
    ///     of the delivery's timer, whose prefix alone is kept where the delivery belongs to no timer.
    ///   - origin: the id of the event; for a delivery from another server, the id that the event has there.
    public static func append(
        _ delivery: DeliveryDetail, origin: Int64? = nil, at: Int64, isEvent: Bool, _ rest: Span<UInt8>,
        to bytes: inout [UInt8]
    ) {
        let origin = origin == delivery.id ? nil : origin
        let start = beginFrame(&bytes)
        bytes.append(deliveryKind)
        ByteCoding.append(signed: at, to: &bytes)
        appendFixed(UInt64(bitPattern: delivery.id), count: 8, to: &bytes)
        bytes.append(
            delivery.state.rawValue | (delivery.slot == nil ? timerlessFlag : 0)
                | (delivery.reason == .backlog ? surplusFlag : 0) | (isEvent ? eventFlag : 0)
                | (delivery.lastAttempt == nil ? 0 : lastAttemptFlag) | (origin == nil ? 0 : originFlag))
        if let origin { appendFixed(UInt64(bitPattern: origin), count: 8, to: &bytes) }
        let reason = delivery.state == .dead ? delivery.reason : .none
        let death = reason == .status ? statusDeath : reason == .age ? ageDeath : 0
        ByteCoding.append(
            UInt64(delivery.attempts) | death | (delivery.redrivenAt == nil ? 0 : redrivenFlag), to: &bytes)
        ByteCoding.append(signed: delivery.due &- at, to: &bytes)
        ByteCoding.append(UInt64(delivery.lastAttempt?.status ?? 0), to: &bytes)
        if let last = delivery.lastAttempt {
            bytes.append(last.failure?.rawValue ?? 0)
            ByteCoding.append(signed: at &- last.at, to: &bytes)
        }
        if let redrivenAt = delivery.redrivenAt { ByteCoding.append(signed: at &- redrivenAt, to: &bytes) }
        let isWhole = isEvent || delivery.slot != nil
        bytes.append(copying: isWhole ? rest : rest.extracting(0..<(Definition.prefixCount(rest) ?? 0)))
        endFrame(start, &bytes)
    }

    /// Appends the record of a deleted timer's definition.
    ///
    /// - Parameter takesDeliveries: whether the timer had a webhook that its receiver had not stopped.
    public static func appendWill(
        takesDeliveries: Bool, at: Int64, definition: Span<UInt8>, to bytes: inout [UInt8]
    ) {
        let start = beginFrame(&bytes)
        bytes.append(willKind | wholeFlag)
        ByteCoding.append(signed: at, to: &bytes)
        bytes.append(takesDeliveries ? 1 : 0)
        bytes.append(copying: definition)
        endFrame(start, &bytes)
    }

    static func will(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ offset: inout Int, into record: inout LogRecord
    ) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset),
            let takes = ByteCoding.readFixed(bytes, &offset, count: 1), takes <= 1
        else { return false }
        record.at = at
        record.content = .will(takesDeliveries: takes == 1)
        return setDefinition(&record, bytes, offset..<body.upperBound, isWhole: true)
    }

    static func readOutcome(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ type: EventType, _ reason: EventReason,
        into record: inout LogRecord
    ) -> Bool {
        guard let id = ByteCoding.readFixed(bytes, &offset, count: 8),
            let attempt = ByteCoding.read(bytes, &offset), attempt <= 127,
            let status = ByteCoding.read(bytes, &offset), status <= 999,
            let failure = ByteCoding.readFixed(bytes, &offset, count: 1),
            let retry = ByteCoding.readSigned(bytes, &offset), let version = ByteCoding.readSigned(bytes, &offset)
        else { return false }
        var outcome = DeliveryOutcome(type, delivery: Int64(bitPattern: id), attempt: Int(attempt))
        outcome.reason = reason
        outcome.status = Int(status)
        outcome.failure = DeliveryFailure(rawValue: UInt8(failure))
        guard failure == 0 || outcome.failure != nil else { return false }
        outcome.retryAt = type == .deliveryFailed ? record.at &+ retry : 0
        record.outcome = outcome
        record.progress.version = version
        return true
    }

    /// Sets the definition of the record's timer from `range`: whole, or only its prefix. An empty prefix sets
    /// nothing, as the definition was not known. Returns false where the bytes are no definition.
    static func setOwner(
        _ record: inout LogRecord, _ bytes: Span<UInt8>, _ range: Range<Int>, isWhole: Bool
    ) -> Bool {
        range.isEmpty && !isWhole || setDefinition(&record, bytes, range, isWhole: isWhole)
    }

    static func delivery(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ offset: inout Int, into record: inout LogRecord
    ) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset),
            let id = ByteCoding.readFixed(bytes, &offset, count: 8),
            let flags = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }),
            let state = DeliveryState(rawValue: flags & stateMask),
            let origin = flags & originFlag == 0 ? id : ByteCoding.readFixed(bytes, &offset, count: 8),
            let attempts = ByteCoding.read(bytes, &offset), attempts < redrivenFlag << 1,
            let due = ByteCoding.readSigned(bytes, &offset),
            let status = ByteCoding.read(bytes, &offset), status <= 999
        else { return false }
        var delivery = DeliveryDetail(
            id: Int64(bitPattern: id), body: record.position, slot: flags & timerlessFlag == 0 ? 0 : nil, state: state)
        delivery.attempts = Int(attempts & attemptsMask)
        delivery.due = at &+ due
        if flags & lastAttemptFlag != 0 {
            guard let failure = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }),
                let age = ByteCoding.readSigned(bytes, &offset)
            else { return false }
            delivery.lastAttempt = LastAttempt(
                at: at &- age, status: Int(status), failure: DeliveryFailure(rawValue: failure))
            guard failure == 0 || delivery.lastAttempt?.failure != nil else { return false }
        } else if state == .dead && status != 0 {
            // Format 1 holds no last attempt: the delivery died as that ended.
            delivery.lastAttempt = LastAttempt(
                at: delivery.due &- Scheduler.deadLetterLifetime, status: Int(status), failure: nil)
        }
        if attempts & redrivenFlag != 0 {
            guard let age = ByteCoding.readSigned(bytes, &offset) else { return false }
            delivery.redrivenAt = at &- age
        }
        guard let reason = death(attempts & deathMask, isSurplus: flags & surplusFlag != 0),
            state == .dead || attempts & deathMask == 0
        else { return false }
        if state == .dead { delivery.reason = reason }
        record.at = at
        record.content = .delivery(delivery, event: nil)
        let range = offset..<body.upperBound
        guard flags & eventFlag != 0 else {
            return setOwner(&record, bytes, range, isWhole: delivery.slot != nil)
        }
        var event = LogRecord(position: delivery.id)
        event.body = range
        guard delivery.id > 0, let kind = ByteCoding.readFixed(bytes, &offset, count: 1),
            Self.event(bytes, range, &offset, UInt8(kind), into: &event), event.owesDelivery
        else { return false }
        event.position = Int64(bitPattern: origin)
        record.content = .delivery(delivery, event: event)
        record.definition = event.definition
        return true
    }

    /// Returns why a delivery is dead, by the bits beside its attempts; nil where the bits contradict each other.
    private static func death(_ bits: UInt64, isSurplus: Bool) -> EventReason? {
        switch (bits, isSurplus) {
        case (0, false): .attempts
        case (0, true): .backlog
        case (statusDeath, false): .status
        case (ageDeath, false): .age
        default: nil
        }
    }
}
