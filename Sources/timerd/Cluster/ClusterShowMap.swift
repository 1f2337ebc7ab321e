import ArgumentParser
import HTTPClient

/// `timerd cluster map`.
struct ClusterShowMap: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map",
        abstract: "Show which server of a cluster has which partition.",
        discussion: """
            The epoch counts how often a partition has changed hands; the head is the newest event id of those that the \
            asked server has itself.

              timerd cluster map
              timerd cluster map --json | jq '.partitions[] | select(.owner == null)'
            """)

    @OptionGroup var client: ClientOptions

    func run() throws {
        let response = try client.client().send(HTTPRequest(.get, RequestTarget("v1", "cluster").text))
        try client.print(response, ClusterText.map)
    }
}
