import CSQLite
import Platform

/// SQLite's default VFS, with writes and syncs that fail on demand. A failed sync of the database may lose what was written
/// since the last one, as the disk of a machine that loses its power later.
///
/// It opens files as the default does, then replaces each file's table of methods by a copy with two of ours.
enum FaultyVFS {
    static let name = "faulty"

    /// A call that can fail.
    enum Call: Hashable, CaseIterable {
        case walWrite, walSync, databaseWrite, databaseSync
    }

    /// Makes the VFS known to SQLite, once.
    static func register() { _ = registration }

    /// Makes `call` fail once with `code`, after it has succeeded `skip` times.
    static func fail(_ call: Call, with code: Int32, after skip: Int = 0) {
        faults.withLock { $0[call] = (skip, code) }
    }

    /// Makes the next sync of the database fail, and the database be what it was at the last sync before it. To be called
    /// before the writes that get lost.
    static func loseNextSync() {
        unsynced.withLock { $0 = [:] }
        fail(.databaseSync, with: csqlite_failed_sync)
    }

    /// Drops every planned failure. Returns whether all of them have happened.
    static func settle() -> Bool {
        unsynced.withLock { $0 = nil }
        return faults.withLock { faults in
            defer { faults = [:] }
            return faults.isEmpty
        }
    }

    /// Whether all planned failures have happened.
    static var isSettled: Bool { faults.withLock { $0.isEmpty } }

    /// The planned failures: the number of calls that succeed before, and the code.
    private static let faults = Guarded<[Call: (skip: Int, code: Int32)]>([:])

    /// The bytes, by their offset in the database, that were overwritten since `loseNextSync`; nil while no sync is to lose any.
    private static let unsynced = Guarded<[Int64: [UInt8]]?>(nil)

    /// Writes to the database, and remembers what was there.
    fileprivate static func writeDatabase(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64
    ) -> Int32 {
        guard let original = unsafe database.original?.pointee else { return SQLITE_MISUSE }
        return unsynced.withLock { unsynced in
            if unsynced != nil, unsynced?[offset] == nil {
                var old = [UInt8](repeating: 0, count: Int(count))
                // A read beyond the file's end fails, and fills with zeros.
                _ = unsafe old.withUnsafeMutableBytes { unsafe original.xRead(file, $0.baseAddress, count, offset) }
                unsynced?[offset] = old
            }
            return unsafe original.xWrite(file, bytes, count, offset)
        }
    }

    /// Syncs the database, or fails and takes back what is to get lost.
    fileprivate static func syncDatabase(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
        guard let original = unsafe database.original?.pointee else { return SQLITE_MISUSE }
        guard let code = due(.databaseSync) else { return unsafe original.xSync(file, flags) }
        unsynced.withLock { unsynced in
            for (offset, old) in unsynced ?? [:] {
                _ = unsafe old.withUnsafeBytes { unsafe original.xWrite(file, $0.baseAddress, Int32($0.count), offset) }
            }
            unsynced = nil
        }
        return code
    }

    /// The code that this `call` fails with; nil where it succeeds.
    fileprivate static func due(_ call: Call) -> Int32? {
        faults.withLock { faults in
            guard let fault = faults[call] else { return nil }
            guard fault.skip == 0 else {
                faults[call] = (fault.skip - 1, fault.code)
                return nil
            }
            faults[call] = nil
            return fault.code
        }
    }

    /// A file's methods: the original's, and a copy with ours.
    @safe fileprivate final class Methods: @unchecked Sendable {  // unchecked: set before the first file is used
        let lock = Lock()
        var original: UnsafePointer<sqlite3_io_methods>?
        var faulty: UnsafeMutablePointer<sqlite3_io_methods>?

        func adopt(_ file: UnsafeMutablePointer<sqlite3_file>, _ change: (inout sqlite3_io_methods) -> Void) {
            lock.withLock {
                if unsafe faulty == nil, let methods = unsafe file.pointee.pMethods {
                    unsafe original = methods
                    let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
                    unsafe copy.initialize(to: methods.pointee)
                    unsafe change(&copy.pointee)
                    unsafe faulty = copy
                }
                unsafe file.pointee.pMethods = UnsafePointer(faulty)
            }
        }
    }

    fileprivate static let wal = Methods()
    fileprivate static let database = Methods()

    private static let registration: Bool = {
        guard let original = unsafe sqlite3_vfs_find(nil) else { return false }
        let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        unsafe copy.initialize(to: original.pointee)
        let name = UnsafeMutablePointer<CChar>.allocate(capacity: FaultyVFS.name.utf8.count + 1)
        for (index, byte) in FaultyVFS.name.utf8.enumerated() { unsafe name[index] = CChar(byte) }
        unsafe name[FaultyVFS.name.utf8.count] = 0
        unsafe copy.pointee.zName = UnsafePointer(name)
        unsafe copy.pointee.xOpen = openFile
        return unsafe sqlite3_vfs_register(copy, 0) == SQLITE_OK
    }()
}

private func openFile(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
) -> Int32 {
    guard let original = unsafe sqlite3_vfs_find(nil), let file = unsafe file else { return SQLITE_MISUSE }
    let code = unsafe original.pointee.xOpen(vfs, name, file, flags, outFlags)
    guard code == SQLITE_OK else { return code }
    if flags & SQLITE_OPEN_WAL != 0 {
        unsafe FaultyVFS.wal.adopt(file) { methods in
            unsafe methods.xWrite = { file, bytes, count, offset in
                if let code = FaultyVFS.due(.walWrite) { return code }
                return unsafe FaultyVFS.wal.original?.pointee.xWrite(file, bytes, count, offset) ?? SQLITE_MISUSE
            }
            unsafe methods.xSync = { file, flags in
                if let code = FaultyVFS.due(.walSync) { return code }
                return unsafe FaultyVFS.wal.original?.pointee.xSync(file, flags) ?? SQLITE_MISUSE
            }
        }
    } else if flags & SQLITE_OPEN_MAIN_DB != 0 {
        unsafe FaultyVFS.database.adopt(file) { methods in
            unsafe methods.xWrite = { file, bytes, count, offset in
                if let code = FaultyVFS.due(.databaseWrite) { return code }
                return unsafe FaultyVFS.writeDatabase(file, bytes, count, offset)
            }
            unsafe methods.xSync = { file, flags in unsafe FaultyVFS.syncDatabase(file, flags) }
        }
    }
    return code
}
