import TimerCore
import TimerLog

/// The requests with an idempotency key that were answered, whole or in part, and the positions of their answers in
/// the log.
///
/// Keys are kept for 24 hours or up to a number of keys and bytes, whichever is less. The map is cut into shards so
/// that no insertion has to move more than a shard. No call forgets more than a few keys, so that one whose time is
/// over may still be here; it is not answered.
struct IdempotencyTable {
    private struct Entry {
        var fingerprint: Hash128
        /// Wall milliseconds at which the answer was given, or the run began.
        var answeredAt: Int64
        /// Position of the answer, or of the newest part; 0 for none.
        var position: Int64 = 0
        /// The number of the key in `order`, where it is listed.
        var listing: UInt32 = 0
        /// Marks in the upper three bits, the number of bytes in the rest.
        private var bits: UInt32 = 0

        init(fingerprint: Hash128, answeredAt: Int64) {
            self.fingerprint = fingerprint
            self.answeredAt = answeredAt
        }

        private static let byteMask: UInt32 = 1 << 29 - 1

        private func has(_ mark: UInt32) -> Bool { bits & mark != 0 }

        private mutating func set(_ mark: UInt32, _ isSet: Bool) { bits = isSet ? bits | mark : bits & ~mark }

        /// Whether a request is being carried out.
        var isUnderWay: Bool {
            get { has(1 << 29) }
            set { set(1 << 29, newValue) }
        }
        /// Whether the answer is whole.
        var isAnswered: Bool {
            get { has(1 << 30) }
            set { set(1 << 30, newValue) }
        }
        /// Whether the key is listed in `order`.
        var isListed: Bool {
            get { has(1 << 31) }
            set { set(1 << 31, newValue) }
        }
        /// Bytes of the answer, or of its parts.
        var byteCount: Int {
            get { Int(bits & Self.byteMask) }
            set { bits = bits & ~Self.byteMask | min(UInt32(clamping: newValue), Self.byteMask) }
        }
    }

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
    private static let shardCount = 256
    private static let chunkCapacity = 4096

    private var shards = [[Hash128: Entry]](repeating: [:], count: IdempotencyTable.shardCount)
    private var runs: [Hash128: Run] = [:]
    /// Keys in the order in which they are forgotten; one whose entry has another number is passed over.
    private var order: [[Hash128]] = []
    private var orderHead = 0
    /// The numbers of the first key in `order` and of the next.
    private var firstListing: UInt32 = 0
    private var nextListing: UInt32 = 0
    /// How many keys were answered, or cut.
    private(set) var count = 0
    /// Bytes of the answers in the log.
    private(set) var answerBytes = 0
    private let maximum: Int
    private let maximumBytes: Int

    init(maximum: Int, maximumBytes: Int = .max) {
        self.maximum = maximum
        self.maximumBytes = maximumBytes
    }

    /// Returns a table of the requests under way alone, with their runs: these requests go on when the log is
    /// folded again.
    func underWay() -> IdempotencyTable {
        var table = IdempotencyTable(maximum: maximum, maximumBytes: maximumBytes)
        for (index, shard) in shards.enumerated() {
            for (key, entry) in shard where entry.isUnderWay {
                var rest = Entry(fingerprint: entry.fingerprint, answeredAt: entry.answeredAt)
                rest.isUnderWay = true
                table.shards[index][key] = rest
                if let run = runs[key] { table.runs[key] = Run(origin: run.origin) }
            }
        }
        return table
    }

    private func shard(_ key: Hash128) -> Int { Int(truncatingIfNeeded: key.low % UInt64(Self.shardCount)) }

    /// Judges a request, and notes one that is to be carried out as under way.
    mutating func begin(_ key: Hash128, fingerprint: Hash128, at wall: Int64) -> IdempotencyVerdict {
        _ = expire(wall)
        let shard = shard(key)
        if let entry = shards[shard][key], !entry.isUnderWay {
            // The parts of a run are of no use once the oldest of them were forgotten.
            if isOver(entry, wall) || runs[key]?.hasGap ?? false { remove(key) }
        }
        if let entry = shards[shard][key] {
            if entry.fingerprint != fingerprint { return .mismatch }
            if entry.isUnderWay { return .inProgress }
            if entry.isAnswered { return .answered(positions(of: key)) }
            shards[shard][key]?.isUnderWay = true
            return .cut(positions(of: key))
        }
        var entry = Entry(fingerprint: fingerprint, answeredAt: wall)
        entry.isUnderWay = true
        shards[shard][key] = entry
        return .fresh
    }

    /// Ends a request without a whole answer: its key is free, or cut where the log holds parts of the answer.
    mutating func release(_ key: Hash128) {
        let shard = shard(key)
        guard var entry = shards[shard][key], entry.isUnderWay else { return }
        entry.isUnderWay = false
        guard entry.position != 0 else {
            // A fold may have found no part of a run that is under way.
            runs[key] = nil
            shards[shard][key] = nil
            return
        }
        list(key, &entry)
        shards[shard][key] = entry
    }

    /// Returns the positions of the answer of a key, part by part.
    func positions(of key: Hash128) -> [Int64] {
        if let run = runs[key] { return run.positions }
        guard let position = shards[shard(key)][key]?.position, position != 0 else { return [] }
        return [position]
    }

    /// Returns the run of a key that is under way: when it began (wall milliseconds), its origin, and how many
    /// parts the log holds; nil where no request is under way.
    func runUnderWay(of key: Hash128) -> (began: Int64, origin: Int64, parts: Int)? {
        guard let entry = shards[shard(key)][key], entry.isUnderWay else { return nil }
        return (entry.answeredAt, runs[key]?.origin ?? 0, runs[key]?.positions.count ?? 0)
    }

    /// Notes an answer that a log holds. For a request under way only parts of its own run are noted: any other
    /// answer with its key was forgotten before the request began.
    mutating func restore(_ place: LogFold.AnswerPlace) {
        if let entry = shards[shard(place.key)][place.key], entry.isUnderWay {
            guard let part = place.part, part.origin == runs[place.key]?.origin else { return }
        }
        note(place)
    }

    /// Notes the position of a request's answer, or of a part of it.
    mutating func note(_ place: LogFold.AnswerPlace) {
        let shard = shard(place.key)
        let old = shards[shard][place.key]
        // Answers are restored in the order of the calendar, in which an older one may come after the one that
        // replaced it.
        let isOfRun = place.part.map { $0.origin == runs[place.key]?.origin } ?? false
        if let old, old.position > place.position, !isOfRun { return }
        var entry = old ?? Entry(fingerprint: place.fingerprint, answeredAt: place.answeredAt)
        if let part = place.part {
            note(part, place, &entry)
        } else {
            runs[place.key] = nil
            entry.byteCount = place.byteCount
            entry.isAnswered = true
        }
        entry.fingerprint = place.fingerprint
        if entry.answeredAt != place.answeredAt {
            entry.answeredAt = place.answeredAt
            unlist(&entry)
        }
        entry.position = place.position
        if entry.isAnswered { entry.isUnderWay = false }
        answerBytes += entry.byteCount - (old?.byteCount ?? 0)
        if !entry.isUnderWay { list(place.key, &entry) }
        shards[shard][place.key] = entry
        _ = expire(place.answeredAt)
    }

    private mutating func note(_ part: AnswerPart, _ place: LogFold.AnswerPlace, _ entry: inout Entry) {
        var run = runs[place.key] ?? Run(origin: part.origin)
        if run.origin != part.origin { run = Run(origin: part.origin) }
        let isFirst = run.positions.isEmpty
        while run.positions.count <= part.index { run.positions.append(0) }
        let isReplacement = run.positions[part.index] != 0
        run.positions[part.index] = place.position
        if part.isLast { run.last = part.index }
        // A part that replaces another is as long, or the only one.
        if isFirst || isReplacement && run.positions.count == 1 {
            entry.byteCount = place.byteCount
        } else if !isReplacement {
            entry.byteCount += place.byteCount
        }
        entry.isAnswered = run.isWhole
        runs[place.key] = run.isWhole && run.positions.count == 1 ? nil : run
    }

    /// Whether the record at `place` is still needed.
    func holds(_ place: LogFold.AnswerPlace) -> Bool {
        if let run = runs[place.key] {
            guard let part = place.part, part.origin == run.origin else { return false }
            return part.index < run.positions.count && run.positions[part.index] == place.position
        }
        return shards[shard(place.key)][place.key]?.position == place.position
    }

    private mutating func list(_ key: Hash128, _ entry: inout Entry) {
        guard !entry.isListed else { return }
        entry.isListed = true
        entry.listing = nextListing
        nextListing &+= 1
        count += 1
        if (order.last?.count ?? Self.chunkCapacity) >= Self.chunkCapacity {
            order.append([])
            order[order.count - 1].reserveCapacity(Self.chunkCapacity)
        }
        order[order.count - 1].append(key)
    }

    private mutating func unlist(_ entry: inout Entry) {
        guard entry.isListed else { return }
        entry.isListed = false
        count -= 1
    }

    private mutating func remove(_ key: Hash128) {
        let shard = shard(key)
        guard var entry = shards[shard][key] else { return }
        unlist(&entry)
        answerBytes -= entry.byteCount
        runs[key] = nil
        shards[shard][key] = nil
    }

    private func isOver(_ entry: Entry, _ wall: Int64) -> Bool { wall - entry.answeredAt > Self.lifetime }

    /// Whether there is no room for the oldest entry.
    private var isAbove: Bool { count > maximum || answerBytes > maximumBytes }

    /// Forgets a few keys: those whose time is over, and the oldest above the maxima. Returns whether there may be
    /// more.
    mutating func expire(_ wall: Int64) -> Bool {
        for _ in 0..<Self.forgottenPerCall {
            guard let key = order.first?[orderHead] else { return false }
            let shard = shard(key)
            if var entry = shards[shard][key], entry.isListed, entry.listing == firstListing {
                guard isAbove || isOver(entry, wall) else { return false }
                if entry.isUnderWay {
                    // A cut run that goes on: it is listed again when it ends.
                    unlist(&entry)
                    shards[shard][key] = entry
                } else {
                    remove(key)
                }
            }
            firstListing &+= 1
            orderHead += 1
            if orderHead == order[0].count {
                order.removeFirst()
                orderHead = 0
            }
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
