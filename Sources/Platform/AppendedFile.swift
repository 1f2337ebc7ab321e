import Glibc

/// A file that is written at its end and never read, or standard output. One thread at a time writes.
///
/// Neither opening nor writing waits for the reader of a pipe; `waitForRoom` does, within a limit.
public final class AppendedFile: Sendable {
    /// The most bytes of one write: a pipe that has room takes as many at once.
    public static let mostBytes = 4096

    /// The file's path; nil for standard output, which other processes may write to as well.
    private let path: String?
    /// The open file; nil for a FIFO that nobody reads.
    private let descriptor: Guarded<Int32?>

    /// The reason for which a file can't be opened or written, by the kernel's number.
    public struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// The kernel's number.
        public let code: Int32

        init(_ code: Int32) { self.code = code }

        /// The reason in words.
        public var description: String {
            if code == ENXIO { return "nobody reads this FIFO" }
            return unsafe String(cString: strerror(code))
        }
    }

    /// Opens the file at `path`, or makes one that its owner may write and its group read; nil is standard output.
    ///
    /// A FIFO that nobody reads is opened by a later write.
    public init(_ path: String?) throws(Fault) {
        self.path = path
        var opened: Int32? = STDOUT_FILENO
        if let path { opened = try Self.open(path) }
        descriptor = Guarded(opened)
    }

    deinit {
        if path != nil, let descriptor = descriptor.withLock({ $0 }) { close(descriptor) }
    }

    /// Opens `path`; nil for a FIFO that nobody reads.
    private static func open(_ path: String) throws(Fault) -> Int32? {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let descriptor = unsafe Glibc.open(path, flags, 0o640)
        if descriptor >= 0 { return descriptor }
        let code = errno
        guard code == ENXIO, isFIFO(path) else { throw Fault(code) }
        return nil
    }

    private static func isFIFO(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// Opens the path again, at which another file may be by now. After a throw the file before stays open.
    public func reopen() throws(Fault) {
        guard let path else { return }
        let opened = try Self.open(path)
        let old = descriptor.withLock { descriptor in
            let old = descriptor
            descriptor = opened
            return old
        }
        if let old { close(old) }
    }

    /// Writes some of `bytes`, and returns how many; 0 where a pipe has no room.
    public func write(_ bytes: ArraySlice<UInt8>) throws(Fault) -> Int {
        let descriptor = try openDescriptor()
        // A write to standard output, which may block, waits for no reader either.
        guard Self.hasRoom(descriptor, milliseconds: 0) else { return 0 }
        while true {
            let count = unsafe bytes.prefix(Self.mostBytes).withUnsafeBytes { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 { return count }
            let code = errno
            if code == EAGAIN { return 0 }
            guard code == EINTR else { throw Fault(code) }
        }
    }

    private func openDescriptor() throws(Fault) -> Int32 {
        if let descriptor = descriptor.withLock({ $0 }) { return descriptor }
        try reopen()
        guard let descriptor = descriptor.withLock({ $0 }) else { throw Fault(ENXIO) }
        return descriptor
    }

    /// Waits until a pipe has room, or fails, for at most `milliseconds`.
    public func waitForRoom(milliseconds: Int32) {
        guard let descriptor = descriptor.withLock({ $0 }) else { return }
        _ = Self.hasRoom(descriptor, milliseconds: milliseconds)
    }

    private static func hasRoom(_ descriptor: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) > 0
    }
}
