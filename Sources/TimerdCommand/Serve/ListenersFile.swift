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

    /// A listener of a running server.
    struct Listener: Equatable {
        let address: ListenAddress
        /// The public key of a listener with TLS, as `ServerTrust.key` has it. Its certificate is for the names by which
        /// others reach the server, seldom for loopback.
        var pin: String?
    }

    /// Writes the file. Returns false where it could not be written.
    ///
    /// - Parameter tls: the certificate and key of the listeners with TLS.
    func write(_ addresses: [BoundAddress], _ tls: TLSIdentity?) -> Bool {
        FileBytes.replace(path, with: Self.bytes(addresses, tls))
    }

    /// Removes the file if it lists exactly these addresses with this key.
    func remove(_ addresses: [BoundAddress], _ tls: TLSIdentity?) {
        if FileBytes.read(path, limit: Self.limit) == Self.bytes(addresses, tls) { FileBytes.remove(path) }
    }

    /// Returns the listeners in the file, but for Unix sockets without a file, which no client of ours connects
    /// to; none where there is no such file, or none that this process may read.
    func read() -> [Listener] {
        guard let bytes = FileBytes.read(path, limit: Self.limit) else { return [] }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return lines.filter { !$0.hasPrefix("unix:@") }.compactMap(Self.listener)
    }

    private static let scheme = "http://"
    private static let secureScheme = "https://"

    private static func listener(_ line: Substring) -> Listener? {
        let address = line.hasPrefix(scheme) ? line.dropFirst(scheme.count) : line
        // The path of a Unix socket may have blanks.
        let parts = line.hasPrefix(secureScheme) ? address.split(separator: " ") : [address]
        guard let place = parts.first, let address = try? ListenAddress(parsing: String(place)) else { return nil }
        return Listener(address: address, pin: parts.dropFirst().first.map(String.init))
    }

    private static func bytes(_ addresses: [BoundAddress], _ tls: TLSIdentity?) -> [UInt8] {
        let pin = tls.map { " \($0.pin)" } ?? ""
        return addresses.flatMap { bound in
            var address = bound.address
            // `--listen unix:@name` is a file of that name; a passed socket without a file has no other name.
            if case .unix(let path, _) = address, !bound.hasNoFile { address = .unix(path: FileBytes.absolute(path)) }
            return Array("\(address.url)\(address.isSecure ? pin : "")\n".utf8)
        }
    }
}
