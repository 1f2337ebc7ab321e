import Platform
import TimerLog
import TimerService
import WireJSON

/// Writes the servers that share a storage, and which of them owns the log.
enum ClusterJSON {
    /// Returns the cluster as the server of `service` knows it; a server that is alone has no session.
    static func text(_ service: TimerService) -> [UInt8] {
        let map = service.place?.map
        return JSONWriter.object { json in
            json.member("session", text: map.map { "\($0.session)" })
            json.member("url", text: map?.url)
            json.member("lease", duration: service.place.map { max(0, $0.lease.remaining) / 1_000_000 })
            json.key("owner")
            write(map?.owner, among: map?.nodes ?? [], &json)
            json.member("head", text: service.log.value.map { EventID($0.engine.durableHead).text })
            json.beginArray("nodes")
            if let map { for node in map.nodes { write(node, of: map, &json) } }
            json.endArray()
        }
    }

    /// Writes the owner; null if the owner is none of `nodes`.
    private static func write(_ owner: LogOwner?, among nodes: [ClusterNode], _ json: inout JSONWriter) {
        guard let owner, let node = nodes.first(where: { $0.session == owner.session }) else { return json.null() }
        json.beginObject()
        json.member("session", text: "\(node.session)")
        json.member("url", text: node.url)
        json.member("epoch", owner.epoch)
        json.endObject()
    }

    private static func write(_ node: ClusterNode, of map: ClusterMap, _ json: inout JSONWriter) {
        let isOwner = node.session == map.owner?.session
        json.beginObject()
        json.member("session", text: "\(node.session)")
        json.member("url", text: node.url)
        json.member("role", text: isOwner ? "owner" : "standby")
        json.member("leaving", node.isLeaving)
        json.member("skewUs", node.skew.map { $0 / 1000 })
        json.member("memory", text: isOwner ? nil : memory(of: node))
        json.member("followed", text: node.followed.map { EventID($0).text })
        json.member("lag", duration: isOwner ? nil : node.followed.map { _ in lag(of: node, in: map) })
        json.member("lagRows", isOwner ? nil : node.unread.map { Int64($0.count) })
        json.member("lagBytes", isOwner ? nil : node.unread.map { Int64($0.bytes) })
        json.endObject()
    }

    private static func memory(of standby: ClusterNode) -> String {
        switch standby.memory {
        case .cold: "cold"
        case .warming: "warming"
        case .through: "warm"
        }
    }

    /// Returns for how many milliseconds a standby has lacked records.
    private static func lag(of node: ClusterNode, in map: ClusterMap) -> Int64 {
        map.behind[node.session].map { max(0, Clocks.boottime() - $0) / 1_000_000 } ?? 0
    }
}
