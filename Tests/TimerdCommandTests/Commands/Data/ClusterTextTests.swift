import Testing

@testable import TimerdCommand

struct ClusterTextTests {
    /// A cluster of an owner and a standby, of which `members` says the rest.
    private static func status(_ members: String) throws -> [String] {
        let json = #"""
            {"session":"5","owner":{"session":"5","url":"http://a","epoch":3},"nodes":[
             {"session":"5","url":"http://a","role":"owner","leaving":false,"skewUs":0,"lag":null,"lagRows":null},
             {"session":"7","url":"http://b","role":"standby","leaving":false,"skewUs":-2500,\#(members)}]}
            """#
        let cluster = try #require(JSONObject(Array(json.utf8)))
        return ClusterText.status(cluster).split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        (#""lag":"0s","lagRows":0"#, ["0s", "0"]),
        (#""lag":"1s500ms","lagRows":999"#, ["1s500ms", "999"]),
        // The count ends at its bound.
        (#""lag":"12s","lagRows":1000"#, ["12s", "1000+"]),
        (#""memory":"cold","lag":null,"lagRows":null"#, ["cold", "-"]),
        (#""memory":"warming","lag":null,"lagRows":null"#, ["warming", "-"]),
        // A server of an earlier version counts no rows, and does not say who reads the log.
        (#""lag":"0s""#, ["0s", "-"]),
        (#""lag":null"#, ["cold", "-"]),
    ])
    func `a standby's line says how far it lags`(members: String, shown: [String]) throws {
        let lines = try Self.status(members)
        func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
        #expect(lines.count == 3 && words(lines[0]) == ["SERVER", "ROLE", "EPOCH", "LAG", "ROWS", "CLOCK"])
        #expect(words(lines[1]) == ["http://a", "owner", "3", "-", "-", "0", "ms", "asked"])
        #expect(words(lines[2]) == ["http://b", "standby", "-"] + shown + ["-2", "ms"])
    }
}
