import Platform
import Primitives
public import TimerCore

/// The bytes of records, as `docs/LOG_FORMAT.md` describes them.
///
/// A record is framed by its length and the CRC-32C of its body, four bytes each. The checksum is filled in by
/// `BatchRows`, away from the lock under which records are written.
public enum RecordCodec {
    static let frameCount = 8
    static let snapshotKind: UInt8 = 32
    static let answerKind: UInt8 = 33
    static let versionFloorKind: UInt8 = 34
    static let kickKind: UInt8 = 35
    static let condensedKind: UInt8 = 36
    static let deliveryKind: UInt8 = 37
    static let markKind: UInt8 = 38
    static let answerPartKind: UInt8 = 39
    static let timerAnswerKind: UInt8 = 40
    static let willKind: UInt8 = 41
    static let drainKind: UInt8 = 42
    static let importKind: UInt8 = 43
    static let keyKind: UInt8 = 44
    static let calendarKind: UInt8 = 45
    /// The flag in the kind of a record that holds the whole definition, not only its prefix.
    static let wholeFlag: UInt8 = 0x80
    /// The flag in the kind of an event that is to be delivered.
    static let owedFlag: UInt8 = 0x40
    /// The flag in the kind of an outcome whose timer is deleted.
    static let detachedFlag: UInt8 = 0x40
    /// The flag in the kind of an answer, or of a part of one, to the request of an access key.
    static let principalFlag: UInt8 = 0x40
    static let kindMask: UInt8 = 0x3F
    /// The flag beside the reason of an event that says when the next fire is planned.
    private static let nextFireFlag: UInt8 = 0x80
    /// The flag beside the reason of a `recovered` that says how long the watchdog was silent.
    private static let silenceFlag: UInt8 = 0x40
    /// The flag beside the reason of an event that names its actor.
    private static let actorFlag: UInt8 = 0x20
    private static let reasonMask: UInt8 = 0x1F

    /// Whether an event's record holds the whole definition. Events that show the payload or follow a change of it
    /// do, and so do events that are to be delivered, as their delivery needs the webhook and the payload.
    public static func holdsDefinition(_ effect: Effect) -> Bool {
        guard let type = effect.type else { return false }
        return type.showsPayload || type == .rescheduled || effect.redefines || effect.owesDelivery
    }

    /// Appends the record of an event of type `type`.
    ///
    /// - Parameters:
    ///   - actor: the client whose request made the event; a record without one is no longer for it.
    ///   - distance: positions since the timer's previous event; 0 when there is none.
    ///   - definition: the timer's definition, of which the prefix is taken where that is enough.
    public static func append(
        _ effect: Effect, _ type: EventType, by actor: Actor? = nil, distance: Int64, definition: Span<UInt8>,
        to bytes: inout [UInt8]
    ) {
        let isWhole = holdsDefinition(effect)
        let flags = actor == nil ? 0 : actorFlag
        let start = beginFrame(&bytes) { head in
            head.append(type.rawValue | (isWhole ? wholeFlag : 0) | (effect.owesDelivery ? owedFlag : 0))
            let silence = effect.silentFor == nil ? 0 : silenceFlag
            head.append(effect.reason.rawValue | (type.showsNextFire ? nextFireFlag : 0) | silence | flags)
            ByteCoding.append(UInt64(distance), to: &head)
            ByteCoding.append(signed: effect.at, to: &head)
            append(effect.progress, effect.kicks, at: effect.at, to: &head)
            if type.showsNextFire { appendNextFire(effect.nextFireAt, effect.progress, at: effect.at, to: &head) }
            if let stalledFor = effect.stalledFor { ByteCoding.append(signed: stalledFor, to: &head) }
            if let silentFor = effect.silentFor { ByteCoding.append(signed: silentFor, to: &head) }
            if effect.reason == .imported {
                ByteCoding.append(signed: effect.at &- effect.progress.updatedAt, to: &head)
            }
            if let fire = effect.fire {
                ByteCoding.append(signed: effect.at &- fire.scheduledAt, to: &head)
                ByteCoding.append(signed: fire.latenessUs, to: &head)
                ByteCoding.append(signed: fire.missed, to: &head)
            }
        }
        if let actor { append(actor, to: &bytes) }
        let count = isWhole ? definition.count : Definition.prefixCount(definition) ?? 0
        bytes.append(copying: definition.extracting(0..<count))
        endFrame(start, &bytes)
    }

    /// Appends an actor: the length of its name, a byte, and the name.
    static func append(_ actor: Actor, to bytes: inout [UInt8]) {
        bytes.append(UInt8(actor.name.count))
        bytes += actor.name
    }

    /// Reads an actor. Returns the range of its name; nil where there is none.
    static func readActor(_ bytes: Span<UInt8>, _ offset: inout Int) -> Range<Int>? {
        guard let count = ByteCoding.readFixed(bytes, &offset, count: 1), count <= UInt64(bytes.count - offset) else {
            return nil
        }
        let name = offset..<offset + Int(count)
        offset = name.upperBound
        return Actor.isName(bytes.extracting(name)) ? name : nil
    }

    /// Appends the record of a kick.
    ///
    /// - Parameters:
    ///   - hash: the top half of the hash of the watchdog's name.
    ///   - base: position of the record that holds the watchdog's definition.
    public static func appendKick(
        _ progress: TimerProgress, _ kicks: KickProgress, hash: UInt32, base: Int64, to bytes: inout [UInt8]
    ) {
        let start = beginFrame(&bytes) { head in
            head.append(kickKind)
            ByteCoding.append(signed: progress.updatedAt, to: &head)
            ByteCoding.append(word: UInt64(hash), count: 4, to: &head)
            ByteCoding.append(word: UInt64(bitPattern: base), count: 8, to: &head)
            append(progress, kicks, at: progress.updatedAt, to: &head)
        }
        endFrame(start, &bytes)
    }

    /// Appends the record of a timer's state.
    public static func appendSnapshot(
        _ progress: TimerProgress, _ kicks: KickProgress?, lastEvent: Int64, definition: Span<UInt8>,
        to bytes: inout [UInt8]
    ) {
        let start = beginFrame(&bytes) { head in
            head.append(snapshotKind | wholeFlag)
            ByteCoding.append(UInt64(lastEvent), to: &head)
            ByteCoding.append(signed: progress.updatedAt, to: &head)
            append(progress, kicks, at: progress.updatedAt, to: &head)
        }
        bytes.append(copying: definition)
        endFrame(start, &bytes)
    }

    /// Appends the record of the floor of versions.
    public static func appendVersionFloor(_ floor: Int64, at: Int64, to bytes: inout [UInt8]) {
        let start = beginFrame(&bytes)
        bytes.append(versionFloorKind)
        ByteCoding.append(signed: at, to: &bytes)
        ByteCoding.append(signed: floor, to: &bytes)
        endFrame(start, &bytes)
    }

    /// Appends the record of a high-water mark.
    public static func append(_ mark: HighWaterMark, at: Int64, to bytes: inout [UInt8]) {
        let start = beginFrame(&bytes)
        bytes.append(markKind)
        ByteCoding.append(signed: at, to: &bytes)
        appendFixed(UInt64(bitPattern: mark.position), count: 8, to: &bytes)
        ByteCoding.append(signed: mark.version, to: &bytes)
        endFrame(start, &bytes)
    }

    /// Appends the record of a condensed row: records up to `position` hold what the removed records held.
    static func appendCondensed(restingOn position: Int64, at: Int64, to bytes: inout [UInt8]) {
        let start = beginFrame(&bytes)
        bytes.append(condensedKind)
        ByteCoding.append(signed: at, to: &bytes)
        ByteCoding.append(signed: position, to: &bytes)
        endFrame(start, &bytes)
    }

    static func appendFixed(_ value: UInt64, count: Int, to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 8) { ByteCoding.append(word: value, count: count, to: &$0) }
    }

    static func beginFrame(_ bytes: inout [UInt8]) -> Int {
        let start = bytes.count
        appendFixed(0, count: frameCount, to: &bytes)
        return start
    }

    /// Begins a frame with the numbers and bytes that `body` writes.
    @inline(__always)
    private static func beginFrame(_ bytes: inout [UInt8], _ body: (inout OutputSpan<UInt8>) -> Void) -> Int {
        let start = bytes.count
        bytes.append(addingCapacity: mostHeadBytes) { head in
            ByteCoding.append(word: 0, count: frameCount, to: &head)
            body(&head)
        }
        return start
    }

    /// The most bytes of the frame and the numbers of any record. There are fewer than 24 numbers: nine of progress
    /// and kicks, and those that come with them.
    static let mostHeadBytes = 24 * ByteCoding.most

    static func endFrame(_ start: Int, _ bytes: inout [UInt8]) {
        let count = UInt32(bytes.count - start - frameCount)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: count >> UInt32(8 * index)) }
    }

    /// Returns the range of the body of the record that starts at `offset`; nil when the record is cut short.
    static func body(_ bytes: Span<UInt8>, at offset: Int) -> Range<Int>? {
        var cursor = offset
        guard let count = ByteCoding.readFixed(bytes, &cursor, count: 4), count > 0,
            UInt64(bytes.count - offset) >= count + UInt64(frameCount)
        else { return nil }
        return offset + frameCount..<offset + frameCount + Int(count)
    }

    /// Returns the checksum that belongs into the frame of the record whose body is `body`.
    static func checksum(_ bytes: Span<UInt8>, _ body: Range<Int>) -> UInt32 {
        CRC32C.checksum(bytes.extracting(body))
    }

    /// Verifies the checksum of the record whose body is `body`, and decodes it in place: a recovery decodes
    /// millions of records.
    ///
    /// - Parameter record: a record of which nothing but the position is set.
    /// - Returns: false when the record is damaged; `record` then means nothing.
    static func decode(_ bytes: Span<UInt8>, _ body: Range<Int>, into record: inout LogRecord) -> Bool {
        // A number that does not end in this record must not be read on into the next one.
        let bytes = bytes.extracting(0..<body.upperBound)
        var offset = body.lowerBound - 4
        guard let stored = ByteCoding.readFixed(bytes, &offset, count: 4),
            UInt32(stored) == checksum(bytes, body),
            let kind = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) })
        else { return false }
        record.body = body
        return content(bytes, body, &offset, kind, into: &record)
    }

    private static func content(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ offset: inout Int, _ kind: UInt8,
        into record: inout LogRecord
    ) -> Bool {
        switch kind & kindMask {
        case snapshotKind: return snapshot(bytes, body, &offset, into: &record)
        case deliveryKind: return delivery(bytes, body, &offset, into: &record)
        case willKind: return will(bytes, body, &offset, into: &record)
        case drainKind: return drain(bytes, &offset, into: &record)
        case importKind: return importProgress(bytes, &offset, into: &record)
        case keyKind: return key(bytes, &offset, into: &record)
        case calendarKind: return calendar(bytes, &offset, into: &record)
        case answerKind, answerPartKind, timerAnswerKind:
            return answer(bytes, body, &offset, kind, into: &record)
        case kickKind: return kick(bytes, &offset, into: &record)
        case versionFloorKind:
            guard let at = ByteCoding.readSigned(bytes, &offset), let floor = ByteCoding.readSigned(bytes, &offset)
            else { return false }
            record.at = at
            record.content = .versionFloor(floor)
            return true
        case markKind:
            guard let at = ByteCoding.readSigned(bytes, &offset),
                let position = ByteCoding.readFixed(bytes, &offset, count: 8),
                let version = ByteCoding.readSigned(bytes, &offset)
            else { return false }
            record.at = at
            record.content = .mark(HighWaterMark(position: Int64(bitPattern: position), version: version))
            return true
        case condensedKind:
            guard let at = ByteCoding.readSigned(bytes, &offset), let last = ByteCoding.readSigned(bytes, &offset)
            else { return false }
            record.at = at
            record.content = .condensed(restingOn: last)
            return true
        default:
            return event(bytes, body, &offset, kind, into: &record)
        }
    }

    static func event(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ offset: inout Int, _ kind: UInt8,
        into record: inout LogRecord
    ) -> Bool {
        guard let type = EventType(rawValue: kind & kindMask),
            let said = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) }),
            let reason = EventReason(rawValue: said & reasonMask),
            let distance = ByteCoding.read(bytes, &offset), distance <= UInt64(record.position),
            let at = ByteCoding.readSigned(bytes, &offset)
        else { return false }
        let isWhole = kind & wholeFlag != 0
        record.at = at
        record.content = .event(type, reason, nil)
        record.previous = distance == 0 ? 0 : record.position - Int64(distance)
        if type.isDelivery {
            guard said & actorFlag == 0, readOutcome(bytes, &offset, type, reason, into: &record) else { return false }
            record.outcome?.isDetached = kind & detachedFlag != 0
            return setOwner(&record, bytes, offset..<body.upperBound, isWhole: isWhole)
        }
        record.owesDelivery = kind & owedFlag != 0
        guard readProgress(bytes, &offset, into: &record) else { return false }
        if said & nextFireFlag != 0 {
            guard readNextFire(bytes, &offset, into: &record) else { return false }
        }
        if type == .recovered {
            guard let value = ByteCoding.readSigned(bytes, &offset) else { return false }
            record.stalledFor = value
        }
        if said & silenceFlag != 0 {
            guard let value = ByteCoding.readSigned(bytes, &offset) else { return false }
            record.silentFor = value
        }
        if reason == .imported {
            // The timer was last changed on another server, before it came.
            guard let age = ByteCoding.readSigned(bytes, &offset) else { return false }
            record.progress.updatedAt = at &- age
        }
        if type == .fired {
            guard let early = ByteCoding.readSigned(bytes, &offset), let late = ByteCoding.readSigned(bytes, &offset),
                let missed = ByteCoding.readSigned(bytes, &offset)
            else { return false }
            let fire = FireDetail(scheduledAt: at &- early, latenessUs: late, missed: missed)
            record.content = .event(type, reason, fire)
        }
        if said & actorFlag != 0 {
            guard let actor = readActor(bytes, &offset) else { return false }
            record.actor = actor
        }
        return setDefinition(&record, bytes, offset..<body.upperBound, isWhole: isWhole)
    }

    private static func snapshot(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ offset: inout Int, into record: inout LogRecord
    ) -> Bool {
        guard let lastEvent = ByteCoding.read(bytes, &offset), let at = ByteCoding.readSigned(bytes, &offset) else {
            return false
        }
        record.at = at
        record.content = .snapshot(lastEvent: Int64(truncatingIfNeeded: lastEvent))
        return readProgress(bytes, &offset, into: &record)
            && setDefinition(&record, bytes, offset..<body.upperBound, isWhole: true)
    }

    private static func kick(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset),
            let hash = ByteCoding.readFixed(bytes, &offset, count: 4),
            let base = ByteCoding.readFixed(bytes, &offset, count: 8)
        else { return false }
        record.at = at
        record.content = .kick(hash: UInt32(hash), base: Int64(bitPattern: base))
        return readProgress(bytes, &offset, into: &record) && record.kicks != nil
    }

    static func setDefinition(
        _ record: inout LogRecord, _ bytes: Span<UInt8>, _ range: Range<Int>, isWhole: Bool
    ) -> Bool {
        let definition = bytes.extracting(range)
        guard isWhole ? Definition.isWhole(definition) : Definition.prefixCount(definition) == range.count else {
            return false
        }
        record.definition = range
        record.isWhole = isWhole
        return true
    }
}
