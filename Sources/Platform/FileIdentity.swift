internal import CLinux

/// The identity of a file, whatever its name is by now.
///
/// The kernel is asked for nothing else: where a file's times are asked for as well, the next write to the file makes
/// its inode new, and a sync of its data then writes the inode too (Linux 6.13 and later).
public struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// Returns the identity of the file that is named `path` now; nil when there is none.
    ///
    /// - Parameter followsLink: whether a symbolic link stands for the file that it names.
    public init?(_ path: String, followsLink: Bool = true) {
        var identity = clinux_identity()
        guard unsafe clinux_path_identity(path, followsLink ? 1 : 0, &identity) == 0 else { return nil }
        self.init(identity)
    }

    /// Returns the identity of the file that is open as `descriptor`.
    public init?(descriptor: Int32) {
        var identity = clinux_identity()
        guard unsafe clinux_descriptor_identity(descriptor, &identity) == 0 else { return nil }
        self.init(identity)
    }

    private init(_ identity: clinux_identity) {
        device = identity.device
        inode = identity.inode
    }
}
