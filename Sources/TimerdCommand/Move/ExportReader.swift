import HTTPClient

/// Reads an export and checks that it is whole.
struct ExportReader {
    /// The most attempts to write an export to a file.
    static let attempts = 5
    /// Seconds without a byte after which the export is aborted.
    private static let silenceSeconds = 60
    /// The bytes kept of the end of an export, enough for its last line.
    private static let tailBytes = 256

    private let service: ServiceClient
    private let target: String

    init(_ service: ServiceClient, _ target: String) {
        self.service = service
        self.target = target
    }

    /// Reads the export and passes its bytes to `take`, which returns whether they were taken.
    ///
    /// - Returns: the number of lines.
    func run(_ take: @escaping ([UInt8]) -> Bool) throws(Failure) -> Int {
        let state = State()
        let response: HTTPResponse
        do throws(HTTPClientError) {
            response = try service.stream(
                HTTPRequest(.get, target), silenceSeconds: Self.silenceSeconds, onHead: { _ in true },
                onBytes: { state.take($0) && take($0) })
        } catch {
            state.progress.end()
            throw Failure(error)
        }
        state.progress.end()
        guard response.status == 200 else { throw Failure(response) }
        guard let last = JSONObject(state.lastLine), last["end"] == "true", last["lines"] == "\(state.lines - 1)" else {
            var failure = Failure(.other, "the export ended before its last line")
            failure.isTransient = true
            throw failure
        }
        return state.lines
    }

    /// The part of an export that has been read: the number of its lines, and its end.
    private final class State {
        var lines = 0
        var tail: [UInt8] = []
        var progress = Progress()

        func take(_ bytes: [UInt8]) -> Bool {
            lines += bytes.count { $0 == 0x0a }
            tail = Array((tail + bytes.suffix(ExportReader.tailBytes)).suffix(ExportReader.tailBytes))
            let lines = lines
            progress.show("\(lines) lines")
            return true
        }

        /// The last line, or the end of one that is longer than `tailBytes`.
        var lastLine: [UInt8] {
            tail.split(separator: 0x0a, omittingEmptySubsequences: true).last.map { Array($0) } ?? []
        }
    }
}
