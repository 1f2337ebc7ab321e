import ArgumentParser
import HTTPClient
import Platform

/// `timerd keys …`.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make, list, replace and revoke access keys: who may do what at a server.",
        discussion: """
            A server has keys if it has a token file (`timerd serve --token-file`), whose tokens have every right. Keys are \
            made with one of them, or with a key that has the scope admin.

            A client sends the secret of a key in the place of a token: as --token, in TIMERD_TOKEN, or in the file of \
            --token-file or TIMERD_TOKEN_FILE.

              timerd keys create cron-job --scope kick --expires 90d
              timerd keys list
              timerd keys rotate p4itmmwg3jee --overlap 24h
              timerd keys revoke p4itmmwg3jee
            """,
        subcommands: [KeyCreate.self, KeyList.self, KeyShow.self, KeyRotate.self, KeyRevoke.self])
}

/// `timerd keys list`.
struct KeyList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List keys.",
        discussion: """
            Oldest first. USED is when the key was last used, to the minute. One page unless --all; if there is more, the \
            last line on stderr says how to go on.

              timerd keys list
              timerd keys list --all --json | jq -r '.keys[].id'
            """)

    @OptionGroup var client: ClientOptions
    @Option(help: ArgumentHelp("Most keys a page, 1 to 1000", valueName: "n")) var limit: String?
    @Option(help: ArgumentHelp("Go on at the end of a page", valueName: "cursor")) var cursor: String?
    @Flag(help: "Every page.") var all = false

    func run() throws {
        let service = try client.client()
        let now = Clocks.realtime() / 1_000_000
        try Paging(cursor: cursor, all: all, json: client.json).run(service, items: "keys", target) { keys in
            KeyText.table.lines(
                keys.map { KeyText.row($0, now: now) }, width: Terminal.size?.columns,
                isColoured: Terminal.hasColours(Environment.current))
        }
    }

    private func target(_ cursor: String?) -> String {
        var target = RequestTarget("v1", "keys")
        target.add("limit", limit)
        target.add("cursor", cursor)
        return target.text
    }
}

/// `timerd keys show`.
struct KeyShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a key with all that it is but its secret.",
        discussion: """
            `self` is the key that asks, whatever its scopes are.

              timerd keys show p4itmmwg3jee
              timerd keys show self
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The key's id, or self.", completion: Completions.keys) var id: String

    func run() throws {
        let response = try client.client().send(HTTPRequest(.get, RequestTarget("v1", "keys", id).text))
        try client.print(response, TimerText.details)
    }
}

/// `timerd keys revoke`.
struct KeyRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End keys for good: requests with them are refused at once, and their streams end.",
        discussion: """
              timerd keys revoke p4itmmwg3jee
            """)

    @OptionGroup var client: ClientOptions
    @Argument(help: "The key's id; may repeat.", completion: Completions.keys) var id: [String]

    func run() throws {
        let service = try client.client()
        try EachID.run(id) { (id) throws(Failure) in
            _ = try service.send(HTTPRequest(.delete, RequestTarget("v1", "keys", id).text))
            if !client.json { Console.out(Printable.text("\(id): revoked")) }
        }
    }
}

/// Keys as a person reads them.
enum KeyText {
    /// The columns of a list of keys, and how it fits a narrow terminal.
    static let table = TextTable(
        titles: ["ID", "NAME", "SCOPES", "PREFIX", "MADE", "USED", "ENDS"],
        narrowings: [.drop("MADE"), .cut("NAME", to: 12), .cut("PREFIX", to: 8), .drop("PREFIX")])

    /// Returns a key's row in `table`, with instants as seen from `now`, in wall milliseconds.
    static func row(_ key: JSONObject, now: Int64) -> [TextTable.Cell] {
        func distance(_ instant: String?) -> String? { instant.map { ShortTime.distance($0, now: now) } }
        return [
            .init(key["id"]), .init(key["name"]), .init(key.strings("scopes").joined(separator: ",")),
            .init(key["idPrefix"]), .init(distance(key["createdAt"])), .init(distance(key["lastUsedAt"]) ?? "never"),
            .init(distance(key["expiresAt"]) ?? "never"),
        ]
    }
}
