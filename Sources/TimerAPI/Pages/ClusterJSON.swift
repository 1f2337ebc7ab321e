import Platform
import TimerLog
import TimerService
import WireJSON

/// Writes the servers that share a storage, and which of them owns the log.
enum ClusterJSON {
    /// Returns the cluster as the server of `service` knows it; a server that is alone has no session.
    static func text(_ service: TimerService) -> [UInt8] {
        let map = service.place?.map
        var json = JSONWriter()
        json.beginObject()
        write("session", map.map { "\($0.session)" }, &json)
        write("url", map?.url, &json)
        json.member("lease", duration: service.place.map { max(0, $0.lease.remaining) / 1_000_000 })
        json.key("owner")
        write(map?.owner, among: map?.nodes ?? [], &json)
        write("head", service.log.value.map { EventID($0.engine.durableHead).text }, &json)
        json.beginArray("nodes")
        for node in map?.nodes ?? [] { write(node, isOwner: node.session == map?.owner?.session, &json) }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    /// Writes the owner; null if the owner is none of `nodes`.
    private static func write(_ owner: LogOwner?, among nodes: [ClusterNode], _ json: inout JSONWriter) {
        guard let owner, let node = nodes.first(where: { $0.session == owner.session }) else { return json.null() }
        json.beginObject()
        write("session", "\(node.session)", &json)
        write("url", node.url, &json)
        json.member("epoch", owner.epoch)
        json.endObject()
    }

    private static func write(_ node: ClusterNode, isOwner: Bool, _ json: inout JSONWriter) {
        json.beginObject()
        write("session", "\(node.session)", &json)
        write("url", node.url, &json)
        write("role", isOwner ? "owner" : "standby", &json)
        json.member("leaving", node.isLeaving)
        json.member("skewUs", node.skew.map { $0 / 1000 })
        json.endObject()
    }

    private static func write(_ name: StaticString, _ text: String?, _ json: inout JSONWriter) {
        json.key(name)
        if let text { json.string(text) } else { json.null() }
    }
}
