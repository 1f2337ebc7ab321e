import WireJSON

/// Reads what a server wrote on a connection: a run of HTTP/1.1 answers, and nothing else.
struct Answers {
    private let bytes: [UInt8]
    private var place = 0
    /// Whether an answer may lack the body that it announces, as those to HEAD do.
    private let mayLackBodies: Bool
    /// The status codes of the final answers, in order.
    private(set) var statuses: [Int] = []

    /// - Parameter input: the bytes that were sent. The request of an answer can't be known from outside.
    init(_ bytes: [UInt8], to input: [UInt8]) {
        self.bytes = bytes
        mayLackBodies = String(decoding: input, as: UTF8.self).contains("HEAD ")
    }

    /// Reads to the end. A malformed answer ends the run.
    ///
    /// The last answer may be cut off where it is a stream: the client has disconnected.
    mutating func readAll() {
        while place < bytes.count {
            let head = readHead()
            require(head.status != 500, "500: \(text(head.body))")
            if head.status < 200 { continue }
            statuses.append(head.status)
            requireContent(head)
            require(!head.closes || place == bytes.count, "something follows the answer that was the last: \(rest)")
        }
    }

    private struct Answer {
        var status = 0
        var fields: [(name: String, value: String)] = []
        var body: ArraySlice<UInt8> = []
        /// Whether the body is as long as it should be.
        var isWhole = true
        var closes: Bool { value("connection")?.lowercased() == "close" }
        func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    }

    private var rest: String { text(bytes[place...]) }

    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes.prefix(500), as: UTF8.self) }

    private mutating func readHead() -> Answer {
        let start = place
        var answer = Answer()
        let line = readLine()
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, words[0].elementsEqual("HTTP/1.1".utf8), words[1].count == 3,
            let status = Int(text(words[1])), (100...599).contains(status)
        else { fatalError("broken: '\(text(line))' is no status line") }
        answer.status = status
        while true {
            let line = readLine()
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), isToken(line[..<colon]) else {
                fatalError("broken: '\(text(line))' is no header line")
            }
            let value = line[(colon + 1)...].drop { $0 == 0x20 }
            require(value.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "'\(text(line))' has a control character")
            answer.fields.append((text(line[..<colon]).lowercased(), text(value)))
        }
        for name in ["content-length", "transfer-encoding", "date", "connection", "content-type", "request-id"] {
            require(answer.fields.count { $0.name == name } <= 1, "\(name) is there twice")
        }
        skipRepeatedHead(bytes[start..<place], of: answer)
        readBody(&answer)
        return answer
    }

    /// libmicrohttpd writes the head of its own refusals twice, the last thing it does on a connection.
    private mutating func skipRepeatedHead(_ head: ArraySlice<UInt8>, of answer: Answer) {
        guard answer.closes, answer.status >= 400, answer.value("request-id") == nil else { return }
        if bytes[place...].starts(with: head) { place += head.count }
    }

    private func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
    }

    private mutating func readLine() -> ArraySlice<UInt8> {
        guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")), end > place, bytes[end - 1] == 13 else {
            fatalError("broken: '\(rest)' is no line")
        }
        defer { place = end + 1 }
        return bytes[place..<end - 1]
    }

    private mutating func readBody(_ answer: inout Answer) {
        let length = answer.value("content-length")
        let coding = answer.value("transfer-encoding")
        require(length == nil || coding == nil, "a body is delimited twice")
        if answer.status < 200 || answer.status == 204 || answer.status == 304 { return }
        if mayLackBodies, place == bytes.count || bytes[place...].starts(with: "HTTP/1.1 ".utf8) { return }
        if let length {
            guard let count = Int(length), count >= 0 else { fatalError("broken: '\(length)' is no length") }
            require(bytes.count - place >= count, "of \(count) bytes there are \(bytes.count - place): \(rest)")
            answer.body = bytes[place..<place + count]
            place += count
        } else if let coding {
            require(coding == "chunked", "'\(coding)' is no coding of ours")
            readChunks(&answer)
        } else {
            // An answer to HTTP/1.0: the end of the connection ends the body.
            require(answer.closes, "nothing says where the body ends")
            answer.body = bytes[place...]
            answer.isWhole = false
            place = bytes.count
        }
    }

    private mutating func readChunks(_ answer: inout Answer) {
        var body: [UInt8] = []
        answer.isWhole = false
        while place < bytes.count, bytes[place...].contains(UInt8(ascii: "\n")) {
            let size = text(readLine())
            guard let count = Int(size, radix: 16), count >= 0 else { fatalError("broken: '\(size)' is no size") }
            body += bytes[place...].prefix(count)
            guard bytes.count - place >= count + 2 else {
                place = bytes.count
                break
            }
            place += count
            require(readLine().isEmpty, "a chunk is longer than it said")
            answer.isWhole = count == 0
            if count == 0 { break }
        }
        if !answer.isWhole { place = bytes.count }
        answer.body = body[...]
    }

    /// Requires that a body is of its type.
    private func requireContent(_ answer: Answer) {
        guard !answer.body.isEmpty else { return }
        switch answer.value("content-type") {
        case "application/json":
            _ = parsed(answer.body)
        case "application/problem+json":
            let problem = parsed(answer.body)
            let status = problem.member(problem.root, "status").flatMap(problem.integer)
            require(status == Int64(answer.status), "\(answer.status) speaks of \(String(describing: status))")
        case "application/x-ndjson":
            let lines = answer.body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            require(!answer.isWhole || lines.last == [], "'\(text(answer.body))' ends within a line")
            for line in lines.dropLast() where !line.isEmpty { _ = parsed(line) }
        default: break
        }
    }

    private func parsed(_ text: ArraySlice<UInt8>) -> JSONDocument {
        var document = JSONDocument()
        guard (try? document.parse(Array(text))) != nil else { fatalError("broken: '\(self.text(text))' is no JSON") }
        return document
    }
}
