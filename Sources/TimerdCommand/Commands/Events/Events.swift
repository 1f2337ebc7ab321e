import HTTPClient

/// The events that are kept, read once from the oldest to the newest.
struct EventHistory {
    private let query: EventQuery
    private let since: String
    private let limit: Int?

    /// - Parameters:
    ///   - since: the id after which to begin; `0` to begin with the oldest kept event.
    ///   - limit: the number of events after which to end.
    init(_ query: EventQuery, since: String, limit: Int?) {
        self.query = query
        self.since = since
        self.limit = limit
    }

    /// Reads the events and passes each line to `show`, which returns false to end.
    ///
    /// - Throws: where the server refuses, or the connection is lost.
    func read(_ client: ServiceClient, show: @escaping ([UInt8]) -> Bool) throws(Failure) {
        let request = HTTPRequest(
            .get, query.target(since: since, limit: limit), headers: [("Accept", "application/x-ndjson")])
        var partial: [UInt8] = []
        var isEnded = false
        let response: HTTPResponse
        do throws(HTTPClientError) {
            response = try client.stream(
                request, silenceSeconds: EventFollower.silenceSeconds, onHead: { _ in true },
                onBytes: { bytes in
                    partial += bytes
                    var start = partial.startIndex
                    while let end = partial[start...].firstIndex(of: 0x0a) {
                        // An empty line is a heartbeat.
                        if end > start, !show(Array(partial[start..<end])) {
                            isEnded = true
                            return false
                        }
                        start = end + 1
                    }
                    partial.removeFirst(start)
                    return partial.count <= EventFollower.lineLimit
                })
        } catch {
            throw Failure(error)
        }
        guard response.status == 200 else { throw Failure(response) }
        guard partial.isEmpty || isEnded else { throw Failure(.other, "the server sent a part of a line") }
    }
}
