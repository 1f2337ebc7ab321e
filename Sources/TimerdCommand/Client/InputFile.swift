import Glibc
import WireJSON

/// A file, or standard input, that a command line names as input.
struct InputFile: ~Copyable {
    /// The name of the file in errors.
    let name: String
    private let descriptor: Int32

    /// Opens the file at `path`; `-` is standard input.
    init(_ path: String) throws(Failure) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(.usage, "can't read \(path): \(Self.reason)") }
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// Returns the next bytes, at most `limit`; none at the end.
    func read(upTo limit: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = -1
        repeat {
            count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, limit) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw Failure(.usage, "can't read \(name): \(Self.reason)") }
        bytes.removeSubrange(count...)
        return bytes
    }

    /// Reads the file up to its end.
    ///
    /// - Throws: also where the file is over `limit` bytes.
    func readAll(limit: Int) throws(Failure) -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = try read(upTo: 64 * 1024)
            if bytes.isEmpty { return all }
            all += bytes
            guard all.count <= limit else { throw Failure(.usage, "\(name) is over \(limit) bytes") }
        }
    }

    private static var reason: String { unsafe String(cString: strerror(errno)) }
}

/// JSON given on the command line: as text, or as the place from which to read it.
enum JSONText {
    /// Most bytes of a file; the server takes fewer.
    static let limit = 1 << 20

    /// Returns JSON without white space between its tokens: `text` itself, that of the file for `@path`, or that
    /// of standard input for `-`. Errors name `flag`.
    static func read(_ text: String, flag: String) throws(Failure) -> [UInt8] {
        guard text == "-" || text.hasPrefix("@") else { return try compact(Array(text.utf8), flag) }
        let path = text == "-" ? text : String(text.dropFirst())
        return try compact(try InputFile(path).readAll(limit: limit), "\(flag) \(text)")
    }

    private static func compact(_ text: [UInt8], _ flag: String) throws(Failure) -> [UInt8] {
        var document = JSONDocument()
        do throws(JSONError) {
            try document.parse(text)
        } catch {
            throw Failure(.usage, "\(flag) is not JSON: \(error)")
        }
        return document.compact(document.root)
    }
}
