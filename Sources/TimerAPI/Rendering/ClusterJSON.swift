import Platform
import TimerLog
import TimerService
import WireJSON

/// Writes which servers share a storage, and which of them has which partition.
enum ClusterJSON {
    /// The cluster as the server of `service` knows it; a server that is alone has no session.
    static func text(_ service: TimerService) -> [UInt8] {
        let (map, partitions) = (service.place?.map, service.partitions.value)
        var json = JSONWriter()
        json.beginObject()
        write("session", map.map { "\($0.session)" }, &json)
        write("url", map?.url, &json)
        json.member("lease", duration: service.place.map { max(0, $0.lease.remaining) / 1_000_000 })
        json.key("nodes")
        json.beginArray()
        for node in map?.nodes ?? [] {
            write(node, owning: map?.owners.count { $0.session == node.session } ?? 0, &json)
        }
        json.endArray()
        json.key("partitions")
        json.beginArray()
        for number in 0..<partitions.layout.count { write(number, map, partitions[number], &json) }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private static func write(_ node: ClusterNode, owning count: Int, _ json: inout JSONWriter) {
        json.beginObject()
        write("session", "\(node.session)", &json)
        write("url", node.url, &json)
        json.member("partitions", Int64(count))
        json.member("leaving", node.isLeaving)
        json.member("skewUs", node.skew.map { $0 / 1000 })
        json.endObject()
    }

    /// - Parameter partition: where this server has it.
    private static func write(_ number: Int, _ map: ClusterMap?, _ partition: Partition?, _ json: inout JSONWriter) {
        let owner = map.flatMap { $0.owners.indices.contains(number) ? $0.owners[number] : nil }
        let node = map?.nodes.first { $0.session == owner?.session }
        json.beginObject()
        json.member("partition", Int64(number))
        write("session", node.map { "\($0.session)" }, &json)
        write("owner", node?.url, &json)
        json.member("epoch", owner?.epoch)
        write("head", partition.map { EventID($0.engine.durableHead).text }, &json)
        json.endObject()
    }

    private static func write(_ name: StaticString, _ text: String?, _ json: inout JSONWriter) {
        json.key(name)
        if let text { json.string(text) } else { json.null() }
    }
}
