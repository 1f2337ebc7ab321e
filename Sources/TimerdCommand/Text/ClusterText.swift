/// A cluster as a person reads it.
enum ClusterText {
    /// Returns a line for each server.
    static func status(_ cluster: JSONObject) -> String {
        guard let session = cluster["session"] else { return "this server is alone: it shares its store with no other" }
        let rows = cluster.objects("nodes").map { node in
            [
                TextTable.Cell(node["url"]), TextTable.Cell(node["leaving"] == "true" ? "leaving" : node["role"]),
                TextTable.Cell(node["skewUs"].flatMap { Int64($0) }.map { "\($0 / 1000) ms" }),
                TextTable.Cell(node["session"] == session ? "asked" : ""),
            ]
        }
        let table = TextTable(titles: ["SERVER", "ROLE", "CLOCK", ""], narrowings: [])
        let rest = cluster["owner"] == nil ? ["no server has the timers now"] : []
        return (table.lines(rows) + rest).joined(separator: "\n")
    }
}
