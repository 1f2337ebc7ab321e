import HTTPClient

/// Prints the pages of a list.
struct Paging {
    /// The cursor to begin at; nil for the first page.
    var cursor: String?
    /// Whether to go on to the last page.
    var all: Bool
    /// Whether to print the server's JSON as it came, a page a line.
    var json: Bool

    /// Gets pages and prints them.
    ///
    /// - Parameters:
    ///   - items: the member of a page that holds its items.
    ///   - target: makes the request's target from a cursor.
    ///   - table: shows items to a person.
    func run(
        _ service: ServiceClient, items: StaticString, _ target: (String?) -> String,
        _ table: ([JSONObject]) -> [String]
    ) throws(Failure) {
        var cursor = cursor
        var isFirst = true
        repeat {
            let response = try service.send(HTTPRequest(.get, target(cursor)))
            let page = try JSONObject(response)
            let found = page.objects(items)
            if json {
                guard Console.out(bytes: response.body + [0x0a]) else { return }
            } else if !found.isEmpty || (isFirst && !all) {
                guard Console.out(table(found).joined(separator: "\n")) else { return }
            }
            isFirst = false
            cursor = page["next"]
        } while all && cursor != nil
        if let cursor, !json { Console.error("more: --cursor \(Printable.text(cursor))") }
    }
}
