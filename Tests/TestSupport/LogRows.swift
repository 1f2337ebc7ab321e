import TimerCore
package import TimerLog

/// `count` rows of `width` positions each that follow the position `after`; the data of each says where it belongs.
package func chain(after: Int64 = 0, count: Int, width: Int64 = 10, bytes: Int = 100) -> [LogRow] {
    (0..<Int64(count)).map { index in
        let previous = after + index * width
        return LogRow(
            first: previous + 1, last: previous + width, previous: previous, data: pattern(previous + 1, bytes))
    }
}

/// A row of one record that is no event, after the position `previous`; `bytes` of it are an answer's text.
package func answerRow(after previous: Int64, bytes: Int = 10) -> LogRow {
    var records: [UInt8] = []
    let number = UInt64(previous)
    let answer = StoredAnswer(.numbered(number), answeredAt: 0, answer: [UInt8](repeating: 7, count: bytes))
    RecordCodec.append(answer, to: &records)
    let base = TimeBase(
        now: Now(elapsed: 0, wallOffset: 0), boottime: 0, boot: Hash128(high: 0, low: number))
    return BatchRows.make(records: records, first: previous + 1, previous: previous, epoch: 0, base: base)[0]
}

/// Bytes that differ from one position to the next, and within.
package func pattern(_ position: Int64, _ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: position &* 7), count: count)
    for index in stride(from: 0, to: count, by: max(1, count / 100)) {
        bytes[index] = UInt8(truncatingIfNeeded: Int(position) &+ index &* 31)
    }
    return bytes
}

/// Every row from `position` on.
package func rows(of store: any LogStore, from position: Int64 = 0) throws -> [LogRow] {
    try rows(of: store.makeReader(), from: position)
}

/// Every row from `position` on.
package func rows(of reader: any LogReader, from position: Int64 = 0) throws -> [LogRow] {
    var all: [LogRow] = []
    try reader.read(from: position) {
        all.append($0)
        return true
    }
    return all
}

extension AppendOutcome {
    /// Whether nothing was written because the log ends elsewhere.
    package var isDiverged: Bool { if case .diverged = self { true } else { false } }
}
