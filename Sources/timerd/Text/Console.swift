import Glibc

/// Standard output and standard error, unbuffered.
enum Console {
    /// Writes a line to standard output. Returns false when nobody reads it any more.
    @discardableResult
    static func out(_ line: String) -> Bool { write(Array((line + "\n").utf8), to: STDOUT_FILENO) }

    /// Writes bytes to standard output as they are. Returns false when nobody reads it any more.
    @discardableResult
    static func out(bytes: [UInt8]) -> Bool { write(bytes, to: STDOUT_FILENO) }

    /// Writes a line to standard error.
    static func error(_ line: String) { write(Array((line + "\n").utf8), to: STDERR_FILENO) }

    /// One call a line where the kernel lets it, so that lines of several threads do not mix.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                guard errno == EINTR else { return false }
                continue
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
