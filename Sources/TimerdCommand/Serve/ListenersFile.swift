import HTTPServer
import Platform

/// The file in the data directory that says where its server listens, a line a listener, so that `timerd health` finds it.
///
/// Only the server that holds the directory's lock writes it, once its listeners are open, and removes it at its end. What a
/// killed server left there leads nowhere, and is replaced at the next start.
struct ListenersFile {
    /// Its name in the directory.
    private static let name = "listeners"
    /// Most bytes of it that are read; no list of as many listeners as there may be is longer.
    private static let limit = 1 << 16

    /// Where it is.
    let path: String

    /// The file of a data directory.
    init(directory: String) { path = directory + "/" + Self.name }

    /// Writes it. Returns false where it could not be written.
    func write(_ addresses: [BoundAddress]) -> Bool { FileBytes.replace(path, with: Self.bytes(addresses)) }

    /// Removes it if it says just that.
    func remove(_ addresses: [BoundAddress]) {
        if FileBytes.read(path, limit: Self.limit) == Self.bytes(addresses) { FileBytes.remove(path) }
    }

    /// What it says, but for Unix sockets without a file, which no client of ours connects to; nothing where there is no such
    /// file, or none that this process may read.
    func read() -> [ListenAddress] {
        guard let bytes = FileBytes.read(path, limit: Self.limit) else { return [] }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return lines.filter { !$0.hasPrefix("unix:@") }.compactMap { line in
            let address = line.hasPrefix(Self.scheme) ? line.dropFirst(Self.scheme.count) : line
            return try? ListenAddress(parsing: String(address))
        }
    }

    private static let scheme = "http://"

    private static func bytes(_ addresses: [BoundAddress]) -> [UInt8] {
        addresses.flatMap { bound in
            var address = bound.address
            // `--listen unix:@name` is a file of that name; a passed socket without a file has no other name.
            if case .unix(let path) = address, !bound.hasNoFile { address = .unix(path: FileBytes.absolute(path)) }
            return Array("\(address.url)\n".utf8)
        }
    }
}
