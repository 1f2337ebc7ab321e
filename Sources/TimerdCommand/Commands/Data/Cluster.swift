import ArgumentParser
import HTTPClient
import Platform
import PostgresLog
import Primitives
import TimerLog

/// `timerd cluster …`.
struct Cluster: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at several servers on one PostgreSQL database, and decide what they can't.",
        subcommands: [ClusterStatus.self, ClusterPromote.self, ClusterAcceptLoss.self])
}

/// `timerd cluster status`.
struct ClusterStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the servers of a cluster, and which of them has the timers.",
        discussion: """
            Any server of the cluster answers, a standby as well. EPOCH, of the owner, counts how often the log has \
            changed hands. ROWS counts the rows of the log that a standby has not read, up to \(UnreadRows.most).

              timerd cluster status
              timerd cluster status --json | jq -r '.nodes[].url'
            """)

    @OptionGroup var client: ClientOptions

    func run() throws {
        let response = try client.client().send(HTTPRequest(.get, RequestTarget("v1", "cluster").text))
        try client.print(response, ClusterText.status)
    }
}

/// A cluster as a person reads it.
enum ClusterText {
    /// Returns a line for each server.
    static func status(_ cluster: JSONObject) -> String {
        guard let session = cluster["session"] else { return "this server is alone: it shares its store with no other" }
        let epoch = cluster.object("owner")?["epoch"]
        let rows = cluster.objects("nodes").map { node in
            [
                TextTable.Cell(node["url"]), TextTable.Cell(node["leaving"] == "true" ? "leaving" : node["role"]),
                TextTable.Cell(node["role"] == "owner" ? epoch : nil),
                TextTable.Cell(lag(node)), TextTable.Cell(unreadRows(node)),
                TextTable.Cell(node["skewUs"].flatMap { Int64($0) }.map { "\($0 / 1000) ms" }),
                TextTable.Cell(node["session"] == session ? "asked" : ""),
            ]
        }
        let table = TextTable(titles: ["SERVER", "ROLE", "EPOCH", "LAG", "ROWS", "CLOCK", ""], narrowings: [])
        let rest = cluster["owner"] == nil ? ["no server has the timers now"] : []
        return (table.lines(rows) + rest).joined(separator: "\n")
    }

    /// Returns how far a standby lags, or why that is not known; nil for the owner.
    private static func lag(_ node: JSONObject) -> String? {
        if node["role"] == "owner" { return nil }
        return node["lag"] ?? node["memory"] ?? "cold"
    }

    /// Returns how many rows of the log a standby lacks; nil where that is not known.
    private static func unreadRows(_ node: JSONObject) -> String? {
        guard let rows = node["lagRows"].flatMap({ Int($0) }) else { return nil }
        return rows < UnreadRows.most ? "\(rows)" : "\(rows)+"
    }
}

/// `timerd cluster promote`.
struct ClusterPromote: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Hand the timers over to another server, without a break for clients.",
        discussion: """
            The server that has the timers waits until the other has read the newest changes, for up to five seconds, \
            answers what was begun and gives the timers away. Requests that come meanwhile wait, and are answered by \
            the other server. Nothing changes where no other server is ready to take over. A server that is stopped \
            (SIGTERM) hands over by itself.

              timerd cluster promote
              timerd cluster promote http://timerd-2.internal:8080
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The URL of the server that is to have the timers. [the one that has read most]")
    var url: String?

    func run() throws {
        var target = RequestTarget("v1", "cluster", "promote")
        target.add("url", url)
        let response = try client.client().send(HTTPRequest(.post, target.text))
        try client.print(response) { cluster in
            "\(cluster.object("owner")?["url"] ?? "another server") has the timers"
        }
    }
}

/// `timerd cluster accept-loss`.
struct ClusterAcceptLoss: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-loss",
        abstract: "Let servers go on whose database has lost answered changes.",
        discussion: """
            A fail-over of PostgreSQL to a standby that lagged loses the newest changes. The server that had shown \
            them notices, and so does a warm standby. It names the positions in its log; as the owner it answers \
            reads, and changes, fires and delivers nothing: bring the old primary back if you can. If not, this \
            command accepts the loss; ids and versions that were given are not given again.

              timerd cluster accept-loss --store postgres://timerd@db.example/timers
            """)

    @OptionGroup var options: DatabaseOptions

    func run() throws {
        let address = try options.address(options.settings())
        do throws(StoreError) { try LossAcceptance.accept(address) } catch {
            throw Failure(error, directory: "--store")
        }
        Console.out("accepted; servers that wait for it go on within a second")
    }
}
