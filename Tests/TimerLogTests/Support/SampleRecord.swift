import TestSupport

@testable import TimerCore
@testable import TimerLog

/// A record as it is written, and the values that must be read back.
struct SampleRecord: Sendable {
    var content: LogRecord.Content
    var at: Int64
    var distance: Int64 = 0
    var progress = TimerProgress()
    var kicks: KickProgress?
    var stalledFor: Int64?
    var silentFor: Int64?
    var nextFireAt: Int64?
    var redefines = false
    var owesDelivery = false
    var actor: Actor?
    var definition: [UInt8] = []

    /// Makes a record of a kind, by the kind's number in the log.
    static func random(_ kind: UInt8, _ generator: inout SeededGenerator) -> SampleRecord {
        var progress = TimerProgress.random(&generator)
        switch kind {
        case RecordCodec.answerKind:
            let words = (0..<4).map { _ in generator.next() }
            let request = IdempotentRequest(
                key: Hash128(high: words[0], low: words[1]), fingerprint: Hash128(high: words[2], low: words[3]),
                principal: generator.chance(oneIn: 2) ? KeyID(random: generator.next()) : nil)
            let answer = StoredAnswer(
                request, answeredAt: progress.updatedAt,
                answer: generator.bytes(Int.random(in: 0...300, using: &generator)))
            return SampleRecord(content: .answer(answer), at: progress.updatedAt)
        case RecordCodec.versionFloorKind:
            return SampleRecord(content: .versionFloor(progress.version), at: progress.updatedAt)
        case RecordCodec.condensedKind:
            return SampleRecord(content: .condensed(restingOn: progress.version), at: progress.updatedAt)
        case RecordCodec.drainKind:
            return SampleRecord(
                content: .drain(isDrained: generator.chance(oneIn: 2), by: actor(&generator)), at: progress.updatedAt)
        case RecordCodec.importKind:
            let words = (0..<4).map { _ in generator.next() }
            var moved = ImportProgress(
                export: Hash128(high: words[0], low: words[1]), part: Int.random(in: 0...1000, using: &generator),
                fingerprint: Hash128(high: words[2], low: words[3]), at: progress.updatedAt)
            moved.lines = Int.random(in: 0...100_000, using: &generator)
            moved.linesBefore = Int.random(in: 0...100_000, using: &generator)
            moved.begin = Int64.random(in: 1...1000, using: &generator)
            moved.isWhole = generator.chance(oneIn: 2)
            moved.isLast = generator.chance(oneIn: 2)
            moved.isCopy = generator.chance(oneIn: 2)
            moved.by = actor(&generator)
            return SampleRecord(content: .importProgress(moved), at: progress.updatedAt)
        case RecordCodec.keyKind:
            return SampleRecord(content: .random(keyFrom: &generator), at: progress.updatedAt)
        case RecordCodec.calendarKind:
            return SampleRecord(
                content: .random(calendarAt: progress.updatedAt, by: actor(&generator), &generator),
                at: progress.updatedAt)
        case RecordCodec.kickKind:
            let hash = UInt32.random(in: 0 ... .max, using: &generator)
            let base = Int64.random(in: 0 ... .max, using: &generator)
            return SampleRecord(
                content: .kick(hash: hash, base: base), at: progress.updatedAt, progress: progress,
                kicks: .random(&generator))
        default: break
        }
        let name = (0..<Int.random(in: 1...128, using: &generator)).map { _ in "x" }.joined()
        let id = generator.chance(oneIn: 2) ? name : "0190c0de-0000-7000-8000-00000000abcd"
        let labels = (0..<Int.random(in: 0...3, using: &generator)).map { ("key\($0)", "value\($0)") }
        let payload = generator.chance(oneIn: 2) ? [] : generator.bytes(Int.random(in: 1...200, using: &generator))
        let rules = TimerRules.random(&generator, wall: 1_700_000_000_000)
        var sample = SampleRecord(
            content: .snapshot(lastEvent: Int64.random(in: 0...Int64.max, using: &generator)), at: progress.updatedAt,
            progress: progress, kicks: generator.chance(oneIn: 2) ? .random(&generator) : nil,
            definition: TestSupport.definition(id, rules, labels: labels, payload: payload))
        if generator.chance(oneIn: 3) { Definition.setTrace(trace(&generator), in: &sample.definition) }
        if sample.kicks == nil {
            // A timer that is no watchdog never stalls; its grid may be its own.
            sample.progress.flags.subtract([.stalled, .unplanned])
            if generator.chance(oneIn: 3) { sample.progress.flags.insert(.ownGrid) }
            if sample.progress.flags.contains(.ownGrid), generator.chance(oneIn: 2) {
                sample.progress.flags.insert(.readInGap)
            }
        } else if sample.progress.state == .running {
            if generator.chance(oneIn: 2) {
                sample.progress.flags.insert(.awaiting)
            } else {
                sample.kicks?.graceFrom = generator.number(1...4_000_000_000_000)
                sample.kicks?.sharedGrace = generator.number()
            }
        }
        guard let type = EventType(rawValue: kind) else { return sample }
        let fire = FireDetail(
            scheduledAt: generator.number(), latenessUs: generator.number(), missed: generator.number())
        sample.content = .event(
            type, EventReason.allCases.randomElement(using: &generator) ?? .none, type == .fired ? fire : nil)
        if type == .recovered { sample.stalledFor = generator.number() }
        if type == .recovered, generator.chance(oneIn: 2) { sample.silentFor = generator.number() }
        // The instant is as far from `due` as instants can be, but not as integers can.
        if type.showsNextFire, generator.chance(oneIn: 2) { sample.nextFireAt = progress.due &+ generator.number() / 4 }
        sample.distance = generator.chance(oneIn: 4) ? 0 : Int64.random(in: 1...999, using: &generator)
        progress.updatedAt = sample.at
        sample.redefines = generator.chance(oneIn: 3)
        sample.owesDelivery = generator.chance(oneIn: 3)
        sample.actor = actor(&generator)
        return sample
    }

    private static func actor(_ generator: inout SeededGenerator) -> Actor? {
        if generator.chance(oneIn: 2) { return nil }
        let count = Int.random(in: 1...Actor.mostBytes, using: &generator)
        return Actor((0..<count).map { _ in UInt8.random(in: 0x21...0x7E, using: &generator) })
    }

    private static func trace(_ generator: inout SeededGenerator) -> [UInt8] {
        let parent = Array("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".utf8)
        let state = Array("a=\(String(repeating: "b", count: Int.random(in: 0...510, using: &generator)))".utf8)
        return TraceContext(parent: parent[...], state: generator.chance(oneIn: 2) ? state : [])?.kept ?? []
    }

    /// Appends the record.
    func append(to bytes: inout [UInt8]) {
        switch content {
        case .event(let type, _, _):
            guard let effect else { return }
            RecordCodec.append(
                effect, type, by: actor, distance: distance, definition: definition.span, to: &bytes)
        case .snapshot(let lastEvent):
            RecordCodec.appendSnapshot(progress, kicks, lastEvent: lastEvent, definition: definition.span, to: &bytes)
        case .kick(let hash, let base):
            RecordCodec.appendKick(progress, kicks ?? KickProgress(), hash: hash, base: base, to: &bytes)
        case .condensed(let last): RecordCodec.appendCondensed(restingOn: last, at: at, to: &bytes)
        case .answer(let answer): RecordCodec.append(answer, to: &bytes)
        case .versionFloor(let floor): RecordCodec.appendVersionFloor(floor, at: at, to: &bytes)
        case .will(let takesDeliveries):
            RecordCodec.appendWill(
                takesDeliveries: takesDeliveries, at: at, definition: definition.span, to: &bytes)
        case .mark(let mark): RecordCodec.append(mark, at: at, to: &bytes)
        case .drain(let isDrained, let actor): RecordCodec.appendDrain(isDrained, by: actor, at: at, to: &bytes)
        case .importProgress(let progress): RecordCodec.append(progress, to: &bytes)
        case .key(let id, let key, let grantor): RecordCodec.append(key, of: id, by: grantor, at: at, to: &bytes)
        case .calendar(let calendar): RecordCodec.append(calendar, to: &bytes)
        case .deletedCalendar(let name, let version, let actor):
            RecordCodec.appendDeletion(of: name, version: version, by: actor, at: at, to: &bytes)
        case .delivery(let delivery, _):
            RecordCodec.append(delivery, at: at, isEvent: false, definition.span, to: &bytes)
        }
    }

    /// The effect that an event's record holds; nil for other records.
    private var effect: Effect? {
        guard case .event(let type, let reason, let fire) = content else { return nil }
        return Effect(
            type: type, reason: reason, at: at, slot: 0, progress: progress, kicks: kicks, fire: fire,
            stalledFor: stalledFor, silentFor: silentFor, nextFireAt: nextFireAt, redefines: redefines,
            owesDelivery: owesDelivery)
    }

    /// The next fire that the record shows.
    var nextFire: NextFire {
        guard case .event(let type, _, _) = content, type.showsNextFire else { return .notRecorded }
        return nextFireAt.map { .at($0) } ?? .unplanned
    }

    /// The bytes of the definition that the record keeps.
    var kept: [UInt8] {
        guard let effect, !redefines, !RecordCodec.holdsDefinition(effect) else { return definition }
        return Array(definition.prefix(Definition.prefixCount(definition.span) ?? 0))
    }
}

extension LogRecord.Content {
    /// A calendar with some of its intervals, or its end.
    static func random(
        calendarAt instant: Int64, by actor: Actor?, _ generator: inout SeededGenerator
    ) -> LogRecord.Content {
        let text = String(repeating: "x", count: Int.random(in: 1...63, using: &generator))
        let hours = ["09:00-12:30", "13:30-18:00", "22:00-06:00"].randomElement(using: &generator) ?? ""
        guard let name = CalendarName(text.utf8), let content = try? CalendarContent.mondays(hours) else {
            preconditionFailure("the calendar is one")
        }
        let version = Int64.random(in: 1 ... .max, using: &generator)
        if generator.chance(oneIn: 4) { return .deletedCalendar(name, version: version, by: actor) }
        return .calendar(
            NamedCalendar(name: name, content: content, version: version, updatedAt: instant, changedBy: actor))
    }

    /// A key with any of the members that a key may have, or its end.
    static func random(keyFrom generator: inout SeededGenerator) -> LogRecord.Content {
        let id = KeyID(random: generator.next())
        let grantor = [KeyGrantor.nobody, .token, .key(KeyID(random: generator.next()))]
            .randomElement(using: &generator)
        if generator.chance(oneIn: 5) { return .key(id, nil, by: grantor ?? .nobody) }
        let scopes = KeyScopes(rawValue: UInt8.random(in: 1...15, using: &generator))
        let hasPrefix = !scopes.contains(.admin) && generator.chance(oneIn: 2)
        let digests = (0..<2).compactMap { _ in KeyDigest(generator.bytes(KeyDigest.count)) }
        var key = AccessKey(
            id: id, name: generator.chance(oneIn: 2) ? "n\u{e4}me" : String(repeating: "x", count: 128), scopes: scopes,
            idPrefix: hasPrefix ? Array("job-".utf8) : [], createdAt: generator.number(), newest: digests[0])
        if generator.chance(oneIn: 2) { key.expiresAt = generator.number() }
        if generator.chance(oneIn: 2) { key.lastUsedAt = generator.number() }
        if generator.chance(oneIn: 2) {
            key.older = AccessKey.OlderSecret(digest: digests[1], until: generator.number())
        }
        key.changedBy = grantor ?? .nobody
        return .key(id, key, by: key.changedBy)
    }
}
