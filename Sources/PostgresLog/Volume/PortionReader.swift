internal import TimerLog

/// Reads a bounded portion of each of several logs in one statement: a reader of all partitions would wait for the server
/// twice for each of them.
struct PortionReader {
    /// Most rows of one log.
    private static let rows: Int32 = 128
    let storage: PostgresStorage

    /// The rows of some logs behind a position each, from the row that holds it on.
    ///
    /// - Parameters:
    ///   - starts: of each log its partition, the position, and the key from which on rows are left.
    ///   - bytes: stored bytes of each log's rows; at least one row comes, unless there is none.
    func read(
        _ starts: [(partition: Int, position: Int64, oldest: Int64)], bytes: Int
    ) throws(StoreError) -> [LogPortion] {
        let values: [PostgresValue] = [
            .int4s(starts.map { Int32($0.partition) }), .int8s(starts.map(\.position)), .int8s(starts.map(\.oldest)),
            .int4(Self.rows), .int8(Int64(bytes)),
        ]
        let result = try storage.readers.read("reading the logs of \(starts.count) partitions") {
            connection throws(PostgresFailure) in
            try connection.run(LogStatements.portions, values, within: storage.timeouts.page)
        }
        var portions = starts.map { _ in LogPortion(rows: [], endsLog: true) }
        var places: [Int: Int] = [:]
        for (place, start) in starts.enumerated() { places[start.partition] = place }
        for index in 0..<result.count {
            let partition = Int(result.integer(index, 5))
            guard let place = places[partition] else { continue }
            portions[place].endsLog = result.integer(index, 6) == 0
            portions[place].rows.append(try storage.row(result, index, of: partition))
        }
        return portions
    }
}
