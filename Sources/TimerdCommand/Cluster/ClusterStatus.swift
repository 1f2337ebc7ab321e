import ArgumentParser
import HTTPClient

/// `timerd cluster status`.
struct ClusterStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the servers of a cluster, and which of them has the timers.",
        discussion: """
            Any server of the cluster answers, one that stands by as well.

              timerd cluster status
              timerd cluster status --json | jq -r '.nodes[].url'
            """)

    @OptionGroup var client: ClientOptions

    func run() throws {
        let response = try client.client().send(HTTPRequest(.get, RequestTarget("v1", "cluster").text))
        try client.print(response, ClusterText.status)
    }
}
