import Platform
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
    /// Set in the kind where the whole definition follows, not only its prefix.
    static let wholeFlag: UInt8 = 0x80

    /// Whether an event's record holds the whole definition: the events that show the payload or follow a change of it.
    public static func holdsDefinition(_ type: EventType) -> Bool {
        type.showsPayload || type == .rescheduled
    }

    /// Appends the record of an event.
    ///
    /// - Parameters:
    ///   - distance: from the timer's event before, in positions; 0 when there is none.
    ///   - definition: of the timer; its prefix is taken where that is enough.
    public static func append(
        _ effect: Effect, distance: Int64, definition: Span<UInt8>, to bytes: inout [UInt8]
    ) {
        let start = beginFrame(&bytes)
        let isWhole = holdsDefinition(effect.type)
        bytes.append(effect.type.rawValue | (isWhole ? wholeFlag : 0))
        bytes.append(effect.reason.rawValue)
        ByteCoding.append(UInt64(distance), to: &bytes)
        ByteCoding.append(signed: effect.at, to: &bytes)
        append(effect.progress, at: effect.at, to: &bytes)
        if let fire = effect.fire {
            ByteCoding.append(signed: effect.at &- fire.scheduledAt, to: &bytes)
            ByteCoding.append(signed: fire.latenessUs, to: &bytes)
            ByteCoding.append(signed: fire.missed, to: &bytes)
        }
        let count = isWhole ? definition.count : Definition.prefixCount(definition) ?? 0
        append(definition.extracting(0..<count), to: &bytes)
        endFrame(start, &bytes)
    }

    /// Appends the record of a timer as it is.
    public static func appendSnapshot(
        _ progress: TimerProgress, lastEvent: Int64, definition: Span<UInt8>, to bytes: inout [UInt8]
    ) {
        let start = beginFrame(&bytes)
        bytes.append(snapshotKind | wholeFlag)
        ByteCoding.append(UInt64(lastEvent), to: &bytes)
        ByteCoding.append(signed: progress.updatedAt, to: &bytes)
        append(progress, at: progress.updatedAt, to: &bytes)
        append(definition, to: &bytes)
        endFrame(start, &bytes)
    }

    /// Appends the record of an answer.
    public static func append(_ answer: StoredAnswer, to bytes: inout [UInt8]) {
        let start = beginFrame(&bytes)
        bytes.append(answerKind)
        ByteCoding.append(signed: answer.answeredAt, to: &bytes)
        for word in [answer.key.high, answer.key.low, answer.fingerprint.high, answer.fingerprint.low] {
            appendFixed(word, count: 8, to: &bytes)
        }
        bytes.append(contentsOf: answer.answer)
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

    static func appendFixed(_ value: UInt64, count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }

    static func append(_ run: Span<UInt8>, to bytes: inout [UInt8]) {
        unsafe run.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    private static func append(_ progress: TimerProgress, at: Int64, to bytes: inout [UInt8]) {
        bytes.append(progress.state.rawValue)
        ByteCoding.append(signed: progress.version, to: &bytes)
        ByteCoding.append(signed: progress.due &- at, to: &bytes)
        ByteCoding.append(signed: age(of: progress.lastFiredAt, at: at), to: &bytes)
        ByteCoding.append(signed: progress.fireCount, to: &bytes)
        ByteCoding.append(signed: progress.missedCount, to: &bytes)
        ByteCoding.append(signed: progress.firesSinceActivation, to: &bytes)
    }

    /// How long ago the last fire was, so that 0 is left for "never": plus one unless the calendar was stepped back.
    private static func age(of lastFiredAt: Int64, at: Int64) -> Int64 {
        if lastFiredAt == 0 { return 0 }
        let age = at &- lastFiredAt
        return age < 0 ? age : age &+ 1
    }

    private static func lastFiredAt(age: Int64, at: Int64) -> Int64 {
        if age == 0 { return 0 }
        return age < 0 ? at &- age : at &- age &+ 1
    }

    private static func beginFrame(_ bytes: inout [UInt8]) -> Int {
        let start = bytes.count
        appendFixed(0, count: frameCount, to: &bytes)
        return start
    }

    private static func endFrame(_ start: Int, _ bytes: inout [UInt8]) {
        let count = UInt32(bytes.count - start - frameCount)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: count >> UInt32(8 * index)) }
    }

    /// The range of the body of the record that starts at `offset`; nil when it is cut short.
    static func body(_ bytes: Span<UInt8>, at offset: Int) -> Range<Int>? {
        var cursor = offset
        guard let count = ByteCoding.readFixed(bytes, &cursor, count: 4), count > 0,
            UInt64(bytes.count - offset) >= count + UInt64(frameCount)
        else { return nil }
        return offset + frameCount..<offset + frameCount + Int(count)
    }

    /// The checksum that belongs into the frame of the record whose body is `body`.
    static func checksum(_ bytes: Span<UInt8>, _ body: Range<Int>) -> UInt32 {
        CRC32C.checksum(bytes.extracting(body))
    }

    /// Decodes the record whose body is `body`, its checksum verified; nil when it is damaged.
    public static func decode(_ bytes: Span<UInt8>, _ body: Range<Int>, position: Int64) -> LogRecord? {
        // Numbers that end too late must not be read from the next record.
        let bytes = bytes.extracting(0..<body.upperBound)
        var offset = body.lowerBound - 4
        guard let stored = ByteCoding.readFixed(bytes, &offset, count: 4),
            UInt32(stored) == checksum(bytes, body),
            let kind = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) })
        else { return nil }
        switch kind & ~wholeFlag {
        case snapshotKind: return snapshot(bytes, body, &offset, position)
        case answerKind: return answer(bytes, body, &offset, position)
        case versionFloorKind:
            guard let at = ByteCoding.readSigned(bytes, &offset), let floor = ByteCoding.readSigned(bytes, &offset)
            else { return nil }
            return LogRecord(position: position, at: at, content: .versionFloor(floor))
        default:
            guard let type = EventType(rawValue: kind & ~wholeFlag) else { return nil }
            return event(bytes, body, &offset, position, type, isWhole: kind & wholeFlag != 0)
        }
    }

    private static func event(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ offset: inout Int, _ position: Int64, _ type: EventType,
        isWhole: Bool
    ) -> LogRecord? {
        guard let reason = ByteCoding.readFixed(bytes, &offset, count: 1).flatMap({ EventReason(rawValue: UInt8($0)) }),
            let distance = ByteCoding.read(bytes, &offset), distance <= UInt64(position),
            let at = ByteCoding.readSigned(bytes, &offset), let progress = progress(bytes, &offset, at: at)
        else { return nil }
        var fire: FireDetail?
        if type == .fired {
            guard let early = ByteCoding.readSigned(bytes, &offset), let late = ByteCoding.readSigned(bytes, &offset),
                let missed = ByteCoding.readSigned(bytes, &offset)
            else { return nil }
            fire = FireDetail(scheduledAt: at &- early, latenessUs: late, missed: missed)
        }
        var record = LogRecord(position: position, at: at, content: .event(type, reason, fire))
        record.previous = distance == 0 ? 0 : position - Int64(distance)
        record.progress = progress
        return withDefinition(record, bytes, offset..<body.upperBound, isWhole: isWhole)
    }

    private static func snapshot(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ offset: inout Int, _ position: Int64
    ) -> LogRecord? {
        guard let lastEvent = ByteCoding.read(bytes, &offset), let at = ByteCoding.readSigned(bytes, &offset),
            let progress = progress(bytes, &offset, at: at)
        else { return nil }
        var record = LogRecord(
            position: position, at: at, content: .snapshot(lastEvent: Int64(truncatingIfNeeded: lastEvent)))
        record.progress = progress
        return withDefinition(record, bytes, offset..<body.upperBound, isWhole: true)
    }

    private static func answer(
        _ bytes: Span<UInt8>, _ body: Range<Int>, _ offset: inout Int, _ position: Int64
    ) -> LogRecord? {
        guard let at = ByteCoding.readSigned(bytes, &offset), body.upperBound - offset >= 32 else { return nil }
        let words = (0..<4).compactMap { _ in ByteCoding.readFixed(bytes, &offset, count: 8) }
        let answer = StoredAnswer(
            key: Hash128(high: words[0], low: words[1]), fingerprint: Hash128(high: words[2], low: words[3]),
            answeredAt: at, answer: (offset..<body.upperBound).map { bytes[$0] })
        return LogRecord(position: position, at: at, content: .answer(answer))
    }

    private static func withDefinition(
        _ record: LogRecord, _ bytes: Span<UInt8>, _ range: Range<Int>, isWhole: Bool
    ) -> LogRecord? {
        guard range.lowerBound <= range.upperBound else { return nil }
        let definition = bytes.extracting(range)
        guard isWhole ? Definition.layout(definition) != nil : Definition.prefixCount(definition) == range.count else {
            return nil
        }
        var record = record
        record.definition = range
        record.isWhole = isWhole
        return record
    }

    private static func progress(_ bytes: Span<UInt8>, _ offset: inout Int, at: Int64) -> TimerProgress? {
        guard
            let state = ByteCoding.readFixed(bytes, &offset, count: 1).flatMap({ TimerState(rawValue: UInt8($0)) }),
            let version = ByteCoding.readSigned(bytes, &offset), let due = ByteCoding.readSigned(bytes, &offset),
            let sinceFire = ByteCoding.readSigned(bytes, &offset), let fires = ByteCoding.readSigned(bytes, &offset),
            let missed = ByteCoding.readSigned(bytes, &offset),
            let recentFires = ByteCoding.readSigned(bytes, &offset)
        else { return nil }
        var progress = TimerProgress()
        progress.state = state
        progress.version = version
        progress.updatedAt = at
        progress.due = due &+ at
        progress.lastFiredAt = lastFiredAt(age: sinceFire, at: at)
        progress.fireCount = fires
        progress.missedCount = missed
        progress.firesSinceActivation = recentFires
        return progress
    }
}
