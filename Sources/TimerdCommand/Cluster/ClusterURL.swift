import HTTPServer
import Platform

/// The URL of a server, unless the configuration gives one.
enum ClusterURL {
    /// Returns the URL of the first TCP address; this machine's name replaces a host that means all addresses.
    static func of(_ addresses: [BoundAddress]) -> String {
        for case .tcp(let host, let port) in addresses.map(\.address) {
            return ListenAddress.tcp(host: isAny(host) ? machineName : host, port: port).url
        }
        return addresses.first?.description ?? ""
    }

    private static func isAny(_ host: String) -> Bool { host == "0.0.0.0" || host == "::" }

    private static var machineName: String {
        let name = FileBytes.read("/proc/sys/kernel/hostname", limit: 256).map { String(decoding: $0, as: UTF8.self) }
        return name?.split(separator: "\n").first.map(String.init) ?? "localhost"
    }
}
