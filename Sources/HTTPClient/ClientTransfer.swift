import Curl
import Platform

/// One request of an `HTTPClient` under way: takes the answer.
final class ClientTransfer: TransferDelegate {
    /// The reason why the transfer was aborted.
    enum Stop {
        /// The body is longer than the client takes.
        case tooLarge
        /// No byte came for as long as the caller allowed.
        case silent
        /// The stream's reader wants no more.
        case byReader
    }

    /// The answer so far.
    private(set) var response = HTTPResponse(status: 0, headers: [], body: [])
    /// The reason why the transfer was aborted; nil where it was not.
    private(set) var stop: Stop?
    private let bodyLimit: Int
    private let stream: HTTPStreamReader?
    private var headBytes = 0
    private var headEnded = false
    private var lastByteAt = Clocks.monotonic()

    /// The most bytes of header lines that a client takes.
    static let headLimit = 64 * 1024

    init(bodyLimit: Int, stream: HTTPStreamReader? = nil) {
        self.bodyLimit = bodyLimit
        self.stream = stream
    }

    func head(_ line: Span<UInt8>) -> Bool {
        lastByteAt = Clocks.monotonic()
        headBytes += line.count
        guard headBytes <= Self.headLimit else { return abort(.tooLarge) }
        let text = String(trimming: line.indices.map { line[$0] })
        if text.hasPrefix("HTTP/") {
            // A new status line: what came before was interim, 100 or 103.
            response.headers = []
            response.status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        } else if let colon = text.firstIndex(of: ":") {
            let value = String(trimming: text[text.index(after: colon)...].utf8)
            response.headers.append(HTTPResponse.Header(name: String(text[..<colon]), value: value))
        } else if text.isEmpty, response.status >= 200, !headEnded {
            headEnded = true
            if let stream, !stream.onHead(response) { return abort(.byReader) }
        }
        return true
    }

    func body(_ bytes: Span<UInt8>) -> Bool {
        let bytes = bytes.indices.map { bytes[$0] }
        lastByteAt = Clocks.monotonic()
        if let stream, response.status == 200 {
            return stream.onBytes(bytes) || abort(.byReader)
        }
        guard response.body.count + bytes.count <= bodyLimit else { return abort(.tooLarge) }
        response.body += bytes
        return true
    }

    func pulse() -> Bool {
        guard let stream, Clocks.monotonic() - lastByteAt > Int64(stream.silenceSeconds) * 1_000_000_000 else {
            return true
        }
        return abort(.silent)
    }

    private func abort(_ reason: Stop) -> Bool {
        stop = reason
        return false
    }
}

extension String {
    /// Decodes UTF-8 without the white space and line ends around it.
    fileprivate init(trimming bytes: some BidirectionalCollection<UInt8>) {
        let start = bytes.drop { $0 <= 0x20 }
        let end = start.lastIndex { $0 > 0x20 }.map { start.index(after: $0) } ?? start.startIndex
        self = String(decoding: start[..<end], as: UTF8.self)
    }
}
