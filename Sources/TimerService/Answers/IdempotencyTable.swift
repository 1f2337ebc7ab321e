import TimerCore
import TimerLog

/// The requests with an idempotency key that were answered, whole or in part, and the positions of their answers in
/// the log.
///
/// Keys are kept for 24 hours or up to a number of keys and bytes, whichever is less. Above these the principal that
/// holds most forgets its oldest key, so that no client makes the server forget what it owes to others; of principals
/// that hold as much the access key with the greatest id does, the tokens last. Requests under way count once they end.
/// No call forgets more than a few keys, so that one whose time is over may still be here; it is not answered.
///
/// A log that is folded again gives a table by the same rule, from its answers in the order of their age. As compaction
/// leaves out what was forgotten, the table is the same while the number of keys is what bounds it and no key's time is
/// over; else of two principals that hold as much one may have a few keys more, and the other a few less.
struct IdempotencyTable {
    /// The parts of a run that is not done, or that has several.
    private struct Run {
        let origin: Int64
        /// The positions of the parts; 0 where that is not known.
        var positions: [Int64] = []
        /// The number of the last part, once it is known.
        var last: Int?

        var isWhole: Bool { positions.count - 1 == last && !hasGap }

        var hasGap: Bool { positions.contains(0) }
    }

    static let lifetime: Int64 = 86_400_000
    /// Most keys that one call forgets.
    static let forgottenPerCall = 64

    private var entries = IdempotencyEntries()
    private var runs: [Hash128: Run] = [:]
    /// How many keys were answered, or cut.
    var count: Int { entries.queuedCount }
    /// Bytes of the answers in the log.
    var answerBytes: Int { entries.bytes }
    private let maximum: Int
    private let maximumBytes: Int

    init(maximum: Int, maximumBytes: Int = .max) {
        self.maximum = maximum
        self.maximumBytes = maximumBytes
    }

    /// Makes an empty table with the bounds of `configuration`.
    init(_ configuration: EngineConfiguration) {
        self.init(
            maximum: configuration.maximumIdempotencyKeys, maximumBytes: configuration.maximumIdempotencyBytes)
    }

    /// Returns a table of the requests under way alone, with their runs: these requests go on when the log is
    /// folded again.
    func underWay() -> IdempotencyTable {
        var table = IdempotencyTable(maximum: maximum, maximumBytes: maximumBytes)
        for (request, answeredAt) in entries.underWay {
            let place = table.entries.add(request, answeredAt: answeredAt)
            table.entries[place].isUnderWay = true
            if let run = runs[request.key] { table.runs[request.key] = Run(origin: run.origin) }
        }
        return table
    }

    /// Judges a request, and notes one that is to be carried out as under way.
    mutating func begin(_ request: IdempotentRequest, at wall: Int64) -> IdempotencyVerdict {
        _ = expire(wall)
        if let place = entries.find(request.key), !entries[place].isUnderWay {
            // The parts of a run are of no use once the oldest of them were forgotten.
            if isOver(place, wall) || runs[request.key]?.hasGap ?? false { remove(place) }
        }
        guard let place = entries.find(request.key) else {
            let place = entries.add(request, answeredAt: wall)
            entries[place].isUnderWay = true
            return .fresh
        }
        if entries[place].fingerprint != request.fingerprint { return .mismatch }
        if entries[place].isUnderWay { return .inProgress }
        if entries[place].isAnswered { return .answered(positions(of: request.key)) }
        // A cut run that goes on is not forgotten before its end.
        entries.dequeue(place)
        entries[place].isUnderWay = true
        return .cut(positions(of: request.key))
    }

    /// Ends a request without a whole answer: its key is free, or cut where the log holds parts of the answer.
    mutating func release(_ key: Hash128) {
        guard let place = entries.find(key), entries[place].isUnderWay else { return }
        entries[place].isUnderWay = false
        // A fold may have found no part of a run that is under way.
        if entries[place].position == 0 { remove(place) } else { entries.enqueue(place) }
    }

    /// Returns the positions of the answer of a key, part by part.
    func positions(of key: Hash128) -> [Int64] {
        if let run = runs[key] { return run.positions }
        guard let place = entries.find(key), entries[place].position != 0 else { return [] }
        return [entries[place].position]
    }

    /// Returns the run of a key that is under way: when it began (wall milliseconds), its origin, and how many
    /// parts the log holds; nil where no request is under way.
    func runUnderWay(of key: Hash128) -> (began: Int64, origin: Int64, parts: Int)? {
        guard let place = entries.find(key), entries[place].isUnderWay else { return nil }
        return (entries[place].answeredAt, runs[key]?.origin ?? 0, runs[key]?.positions.count ?? 0)
    }

    /// Notes an answer that a log holds. For a request under way only parts of its own run are noted: any other
    /// answer with its key was forgotten before the request began.
    mutating func restore(_ answer: LogFold.AnswerPlace) {
        if let place = entries.find(answer.request.key), entries[place].isUnderWay {
            guard let part = answer.part, part.origin == runs[answer.request.key]?.origin else { return }
        }
        note(answer)
    }

    /// Notes the position of a request's answer, or of a part of it.
    mutating func note(_ answer: LogFold.AnswerPlace) {
        let key = answer.request.key
        let known = entries.find(key)
        // Answers are restored in the order of the calendar, in which an older one may come after the one that
        // replaced it.
        let isOfRun = answer.part.map { $0.origin == runs[key]?.origin } ?? false
        if let known, entries[known].position > answer.position, !isOfRun { return }
        let place = known ?? entries.add(answer.request, answeredAt: answer.answeredAt)
        if let part = answer.part {
            note(part, answer, place)
        } else {
            runs[key] = nil
            entries.setBytes(answer.byteCount, of: place)
            entries[place].isAnswered = true
        }
        entries[place].fingerprint = answer.request.fingerprint
        if entries[place].answeredAt != answer.answeredAt {
            entries.dequeue(place)
            entries[place].answeredAt = answer.answeredAt
        }
        entries[place].position = answer.position
        if entries[place].isAnswered { entries[place].isUnderWay = false }
        if !entries[place].isUnderWay { entries.enqueue(place) }
        _ = expire(answer.answeredAt)
    }

    private mutating func note(_ part: AnswerPart, _ answer: LogFold.AnswerPlace, _ place: IdempotencyEntries.Place) {
        let key = answer.request.key
        var run = runs[key] ?? Run(origin: part.origin)
        if run.origin != part.origin { run = Run(origin: part.origin) }
        let isFirst = run.positions.isEmpty
        while run.positions.count <= part.index { run.positions.append(0) }
        let isReplacement = run.positions[part.index] != 0
        run.positions[part.index] = answer.position
        if part.isLast { run.last = part.index }
        // A part that replaces another is as long, or the only one.
        if isFirst || isReplacement && run.positions.count == 1 {
            entries.setBytes(answer.byteCount, of: place)
        } else if !isReplacement {
            entries.setBytes(entries[place].byteCount + answer.byteCount, of: place)
        }
        entries[place].isAnswered = run.isWhole
        runs[key] = run.isWhole && run.positions.count == 1 ? nil : run
    }

    /// Whether the record of `answer` is still needed.
    func holds(_ answer: LogFold.AnswerPlace) -> Bool {
        let key = answer.request.key
        if let run = runs[key] {
            guard let part = answer.part, part.origin == run.origin else { return false }
            return part.index < run.positions.count && run.positions[part.index] == answer.position
        }
        return entries.find(key).map { entries[$0].position } == answer.position
    }

    private mutating func remove(_ place: IdempotencyEntries.Place) {
        runs[entries[place].key] = nil
        entries.remove(place)
    }

    private func isOver(_ place: IdempotencyEntries.Place, _ wall: Int64) -> Bool {
        wall - entries[place].answeredAt > Self.lifetime
    }

    /// Returns the key that is to be forgotten next: one whose time is over, or above the maxima the oldest one of the
    /// principal that holds most; nil if all may stay.
    private func nextForgotten(_ wall: Int64) -> IdempotencyEntries.Place? {
        if let oldest = entries.oldest, isOver(oldest, wall) { return oldest }
        if entries.queuedCount > maximum { return entries.oldestByCount }
        return entries.queuedBytes > maximumBytes ? entries.oldestByBytes : nil
    }

    /// Forgets a few of the keys that are to be forgotten. Returns whether there may be more.
    mutating func expire(_ wall: Int64) -> Bool {
        for _ in 0..<Self.forgottenPerCall {
            guard let place = nextForgotten(wall) else { return false }
            remove(place)
        }
        return true
    }
}

/// The judgement of a request by its idempotency key.
public enum IdempotencyVerdict: Equatable, Sendable {
    /// The key is new: the request is under way from now on.
    case fresh
    /// The same request was cut: the log holds the parts at these positions. It is under way again from now on.
    case cut([Int64])
    /// The same request was answered; its answer is at these positions, part by part.
    case answered([Int64])
    /// Another request had this key.
    case mismatch
    /// The first request with this key is still under way.
    case inProgress
}
