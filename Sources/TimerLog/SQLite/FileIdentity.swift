internal import Glibc

/// The identity of a file, whatever its name is by now.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// Makes the identity of the file that `status` describes.
    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
