import HTTPClient

/// Reads an export, and knows whether it is whole.
struct ExportReader {
    /// How often an export to a file is begun.
    static let attempts = 5
    /// Seconds without a byte after which it is given up.
    private static let silenceSeconds = 60
    /// Bytes of the end that tell whether it is the last line.
    private static let tailBytes = 256

    private let service: ServiceClient
    private let target: String

    init(_ service: ServiceClient, _ target: String) {
        self.service = service
        self.target = target
    }

    /// Reads it and hands its bytes to `take`, which returns whether they were taken.
    ///
    /// - Returns: how many lines it has.
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
            failure.mayPass = true
            throw failure
        }
        return state.lines
    }

    /// What was read so far.
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

        /// The last line, where it is short.
        var lastLine: [UInt8] {
            tail.split(separator: 0x0a, omittingEmptySubsequences: true).last.map { Array($0) } ?? []
        }
    }
}
