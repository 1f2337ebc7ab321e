import Platform
import TimerCore
import TimerLog

/// Input: a byte that selects what follows. Even: a row's data as they are. Odd: records, each two bytes of length
/// and its body; the checksums, at which damage mostly ends, are made to fit.
func fuzzRecords(_ input: [UInt8]) {
    guard let mode = input.first else { return }
    if mode % 2 == 0 {
        read(LogRow(first: 1, last: 1 + Int64(mode / 2), previous: 0, data: Array(input[1...])))
        return
    }
    let records = framed(input.dropFirst())
    let base = TimeBase(now: Now(elapsed: 1, wallOffset: 2, downtime: 3), boottime: 4, boot: Hash128(high: 5, low: 6))
    let kind: RowKind = mode & 2 == 0 ? .events : .kicks
    for row in BatchRows.make(kind: kind, records: records, first: 1000, previous: 999, epoch: 1, base: base) {
        read(row)
    }
}

private func framed(_ input: ArraySlice<UInt8>) -> [UInt8] {
    var rest = input
    var records: [UInt8] = []
    while rest.count > 2 {
        let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        let body = rest.dropFirst(2).prefix(max(1, length))
        rest = rest.dropFirst(2 + body.count)
        records += [UInt8(truncatingIfNeeded: body.count), UInt8(truncatingIfNeeded: body.count >> 8)]
        records += [0, 0, 0, 0, 0, 0]
        records += body
    }
    return records
}

/// Reads a row record by record, then folds it as a start does.
private func read(_ row: LogRow) {
    var count = 0
    let header = try? BatchRows.read(row) { record in
        require(record.position == row.first + Int64(count), "the positions have gaps")
        require(record.definition.upperBound <= row.data.count, "a definition lies outside")
        if record.isWhole {
            let definition = row.data.span.extracting(record.definition)
            require(Definition.layout(definition) != nil, "a definition does not read")
        }
        count += 1
        return true
    }
    require(header == nil || header?.records == count, "a row was read in part")
    var fold = LogFold(secret: [1, 2, 3])
    let isFolded = (try? fold.fold(row)) != nil
    require(!isFolded || header != nil, "a row is folded that does not read")
    _ = fold.finish()
}
