/// A cluster as a person reads it.
enum ClusterText {
    /// A line for each server.
    static func status(_ cluster: JSONObject) -> String {
        guard let session = cluster["session"] else { return "this server is alone: it shares its store with no other" }
        let nodes = cluster.objects("nodes")
        let rows = nodes.map { node in
            [
                TextTable.Cell(node["url"]), TextTable.Cell(node["partitions"]), TextTable.Cell(role(node)),
                TextTable.Cell(node["skewUs"].flatMap { Int64($0) }.map { "\($0 / 1000) ms" }),
                TextTable.Cell(node["session"] == session ? "asked" : ""),
            ]
        }
        let table = TextTable(titles: ["SERVER", "PARTITIONS", "ROLE", "CLOCK", ""], narrowings: [])
        let all = cluster.objects("partitions")
        let without = all.count { $0["owner"] == nil }
        let rest = without > 0 ? ["\(without) of \(all.count) partitions have no server now"] : []
        return (table.lines(rows) + rest).joined(separator: "\n")
    }

    private static func role(_ node: JSONObject) -> String {
        if node["leaving"] == "true" { return "leaving" }
        return node["partitions"] == "0" ? "standby" : "serves"
    }
}
