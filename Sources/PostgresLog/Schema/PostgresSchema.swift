internal import Platform
public import TimerLog

/// The tables of a cluster: what they hold, how they are made, and how they are recognised.
///
/// They lie in the first schema of the connection's `search_path`. Versions only add: a program reads what an older one wrote.
public enum PostgresSchema {
    /// What `migrate` found and left.
    public struct Migration: Sendable, Equatable {
        /// The version before; 0 where there were no tables.
        public var from: Int
        /// The version now.
        public var to: Int
        /// How many partitions there are.
        public var partitions: Int
    }

    /// What the table of settings says.
    struct Meta: Equatable {
        /// How the volume is divided.
        var layout: PartitionLayout
        /// The secret of the cluster.
        var secret: [UInt8]
    }

    /// How many partitions a cluster has where nothing else is asked for.
    public static let partitionsByDefault = 64
    /// How many times a migration that another one stood in the way of is begun again.
    private static let tries = 20

    /// The version of the tables that this program needs.
    public static var version: Int { steps.count }

    /// Makes the tables, or brings older ones to this version. Several processes may do so at once.
    ///
    /// - Parameter partitions: how many, a power of two up to 1024, where there are no tables yet.
    /// - Throws: `unusable` where the tables are newer than this program, or the role may not make them.
    public static func migrate(
        _ address: PostgresAddress, partitions: Int = partitionsByDefault
    ) throws(StoreError) -> Migration {
        try migrate(address, partitions: partitions, steps: steps)
    }

    static func migrate(
        _ address: PostgresAddress, partitions: Int, steps: [[String]]
    ) throws(StoreError) -> Migration {
        guard let layout = PartitionLayout(strided: partitions) else {
            throw StoreError(.unusable, "\(partitions) partitions: the number is a power of two up to 1024")
        }
        let purpose = PostgresConnection.Purpose(session: 0)
        do throws(PostgresFailure) {
            var tried = 0
            while true {
                tried += 1
                // Each try has a connection of its own, which ends what the one before left of a transaction.
                let connection = try PostgresConnection.open(address, for: purpose)
                do throws(PostgresFailure) {
                    return try migrate(connection, layout, steps)
                } catch  where (error.isDuplicate || error.isCollision || error.isRace) && tried < tries {
                    continue
                }
            }
        } catch {
            throw error.storeError("making the tables")
        }
    }

    private static func migrate(
        _ connection: PostgresConnection, _ layout: PartitionLayout, _ steps: [[String]]
    ) throws(PostgresFailure) -> Migration {
        try connection.execute("BEGIN")
        // Of several processes one goes on; the others wait here, or fail and begin again.
        try connection.execute(createMeta)
        try connection.execute("LOCK TABLE timerd_meta IN ACCESS EXCLUSIVE MODE")
        let found = try connection.run(selectMeta)
        let from = number("schema", in: found) ?? 0
        guard from <= steps.count else { throw newer(from, than: steps.count) }
        for step in steps[from...] {
            for statement in step { try connection.execute(statement) }
        }
        if from == 0 {
            try fill(connection, layout)
        } else {
            try put("schema", Array("\(steps.count)".utf8), connection)
        }
        let partitions = number("partitions", in: try connection.run(selectMeta)) ?? 0
        try connection.execute("COMMIT")
        return Migration(from: from, to: steps.count, partitions: partitions)
    }

    /// What a new cluster begins with: its settings, session 0 that has ended, and for each partition the row that is the end of
    /// an empty log. That row's key, −1, says that it is none.
    private static func fill(_ connection: PostgresConnection, _ layout: PartitionLayout) throws(PostgresFailure) {
        try put("schema", Array("\(steps.count)".utf8), connection)
        try put("partitions", Array("\(layout.count)".utf8), connection)
        try put("stride", Array("\(layout.stride)".utf8), connection)
        try put("format", Array("\(BatchHeader.format)".utf8), connection)
        try put("secret", newSecret(), connection)
        _ = try connection.run(insertSession)
        let numbers = (0..<Int32(layout.count)).map { $0 }
        _ = try connection.run(insertPartitions, [.int4s(numbers)])
        _ = try connection.run(insertGenesis, [.int4s(numbers), .bytes(BatchRows.barrier())])
    }

    private static func put(
        _ key: String, _ value: [UInt8], _ connection: PostgresConnection
    ) throws(PostgresFailure) {
        _ = try connection.run(putMeta, [.text(key), .bytes(value)])
    }

    /// Reads the settings of a cluster. Throws `unusable` where there is none, or one of another version.
    static func meta(_ connection: PostgresConnection) throws(StoreError) -> Meta {
        let found: PostgresResult
        do throws(PostgresFailure) {
            found = try connection.run(selectMeta)
        } catch {
            guard error.isMissingTable else { throw error.storeError("reading timerd's settings") }
            throw notMigrated("timerd's tables are not in this database, or not in the role's search_path")
        }
        guard let version = number("schema", in: found) else { throw notMigrated("timerd's tables are empty") }
        guard version >= self.version else {
            throw notMigrated("timerd's tables have version \(version), this program needs \(self.version)")
        }
        guard version <= self.version else { throw newer(version, than: self.version).storeError("opening the log") }
        let secret = value("secret", in: found) ?? []
        let stride = number("stride", in: found)
        guard let count = number("partitions", in: found), let layout = PartitionLayout(strided: count),
            stride == Int(layout.stride), secret.count == 16
        else {
            throw StoreError(.damaged, "the table timerd_meta is damaged: partitions, stride or secret are not whole")
        }
        return Meta(layout: layout, secret: secret)
    }

    private static func notMigrated(_ what: String) -> StoreError {
        StoreError(.unusable, "\(what); run `timerd store migrate`")
    }

    private static func newer(_ version: Int, than known: Int) -> PostgresFailure {
        PostgresFailure(
            "timerd's tables have version \(version), made by a newer timerd; this one knows \(known)", isCertain: true,
            kind: .unusable)
    }

    private static func value(_ key: String, in found: PostgresResult) -> [UInt8]? {
        (0..<found.count).first { found.text($0, 0) == key }.map { found.bytes($0, 1) }
    }

    private static func number(_ key: String, in found: PostgresResult) -> Int? {
        value(key, in: found).flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    private static func newSecret() -> [UInt8] {
        KernelRandom.words(2).flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }
}

extension PostgresFailure {
    /// Another process made or changed a table meanwhile.
    fileprivate var isRace: Bool { ["42P07", "42710", "XX000", "42P06"].contains(state ?? "") && isCertain }
}
