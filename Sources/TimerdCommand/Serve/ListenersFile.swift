import HTTPServer
import Platform

/// The file in the data directory that lists where its server listens, a line a listener, so that `timerd health`
/// finds the server.
///
/// Only the server that holds the directory's lock writes the file, once its listeners are open, and removes it at
/// its end. The file of a killed server leads nowhere, and is replaced at the next start.
struct ListenersFile {
    /// The name of the file in the directory.
    private static let name = "listeners"
    /// Most bytes of the file that are read; a list of as many listeners as there may be is shorter.
    private static let limit = 1 << 16

    /// The path of the file.
    let path: String

    /// Names the file of a data directory.
    init(directory: String) { path = directory + "/" + Self.name }

    /// Writes the file. Returns false where it could not be written.
    func write(_ addresses: [BoundAddress]) -> Bool { FileBytes.replace(path, with: Self.bytes(addresses)) }

    /// Removes the file if it lists exactly these addresses.
    func remove(_ addresses: [BoundAddress]) {
        if FileBytes.read(path, limit: Self.limit) == Self.bytes(addresses) { FileBytes.remove(path) }
    }

    /// Returns the addresses in the file, but for Unix sockets without a file, which no client of ours connects
    /// to; none where there is no such file, or none that this process may read.
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
