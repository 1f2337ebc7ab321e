internal import CPQ

/// The rows that a statement returned, in binary form. Confined to one thread at a time.
@safe public final class PostgresResult {
    private let handle: OpaquePointer
    /// The warning that came with the statement. For an append it means that its commit is not known to have been
    /// waited for.
    public let warning: String?

    /// Takes over `handle`, which is freed with the object.
    init(_ handle: OpaquePointer, warning: String?) {
        unsafe self.handle = handle
        self.warning = warning
    }

    deinit { unsafe PQclear(handle) }

    /// The number of rows.
    public var count: Int { unsafe Int(PQntuples(handle)) }

    /// The number of rows that were inserted, updated or deleted.
    public var changed: Int { unsafe Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// Whether a value is NULL.
    public func isNull(_ row: Int, _ column: Int) -> Bool { unsafe PQgetisnull(handle, Int32(row), Int32(column)) == 1 }

    /// Returns an `int` or a `bigint`; 0 for NULL.
    public func integer(_ row: Int, _ column: Int) -> Int64 {
        unsafe withBytes(row, column) { bytes in
            guard bytes.count == 4 || bytes.count == 8 else { return 0 }
            var value: UInt64 = 0
            for index in bytes.indices { value = unsafe value << 8 | UInt64(bytes[index]) }
            return bytes.count == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
        }
    }

    /// Returns a `bool`; false for NULL.
    public func bool(_ row: Int, _ column: Int) -> Bool {
        unsafe withBytes(row, column) { bytes in unsafe bytes.first == 1 }
    }

    /// Returns a `text`; empty for NULL.
    public func text(_ row: Int, _ column: Int) -> String {
        unsafe withBytes(row, column) { bytes in unsafe String(decoding: bytes, as: UTF8.self) }
    }

    /// Returns a `bytea`; empty for NULL.
    public func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        unsafe withBytes(row, column) { bytes in unsafe Array(bytes) }
    }

    /// Returns the number of bytes of a value.
    func byteCount(_ row: Int, _ column: Int) -> Int { unsafe Int(PQgetlength(handle, Int32(row), Int32(column))) }

    /// Runs `body` with the bytes of a value, in place.
    func withBytes<Result, Failure: Error>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = unsafe PQgetvalue(handle, Int32(row), Int32(column))
        let count = unsafe Int(PQgetlength(handle, Int32(row), Int32(column)))
        return try unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }
}
