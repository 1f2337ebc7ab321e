internal import Glibc

/// A file itself, whatever its name is by now.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// The file that `status` is of.
    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
