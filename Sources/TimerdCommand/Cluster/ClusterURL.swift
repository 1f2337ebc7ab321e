import HTTPServer
import Platform

/// Where a server says that it is reached, unless it is told.
enum ClusterURL {
    /// The first address of TCP; this machine's name in place of one that stands for all addresses.
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
