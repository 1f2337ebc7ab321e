import HTTPServer

/// A stream of another server's connection, by which it has forwarded a request.
struct PeerStream: AnswerChannel {
    let connection: PeerConnection
    let number: Int32

    func send(_ response: inout Response, isHead: Bool) {
        let hasContent = !isHead && !ResponseHead.isBodyless(response.status)
        let content = hasContent ? response.body : []
        connection.send(number, response, length: response.body.count, content: content.isEmpty ? nil : content)
        response.body = []
    }

    func sendHead(_ response: Response) { connection.sendHead(number, response) }

    func sendInterim(_ response: Response) { connection.sendInterim(number, response) }

    /// Turns the stream into a sink, to which a stream of events, or a parked answer, is written.
    func takeSink() -> any StreamSink { connection.takeSink(number) }
}

/// A stream of another server's connection to which events, or a parked answer, are written.
final class PeerSink: StreamSink {
    let loop: LoopCore
    var owner = SinkOwner.none
    private let connection: PeerConnection
    private let stream: Int32
    private(set) var isOpen = true
    private var isClosed = false
    /// Whether the owner waits for room.
    private var isFull = false

    /// A sink that buffers this many times the limit is closed.
    private static let overrun = 8

    init(_ connection: PeerConnection, _ stream: Int32) {
        self.connection = connection
        self.stream = stream
        loop = connection.loop
    }

    var bufferedBytes: Int { connection.waitingBytes(stream) }

    func begin(_ response: Response, isChunked: Bool) { connection.begin(stream, response) }

    func write(_ bytes: [UInt8], _ range: Range<Int>) {
        guard isOpen, !range.isEmpty else { return }
        connection.write(stream, bytes[range])
        isFull = true
        if bufferedBytes > loop.limits.streamBufferBytes * Self.overrun { close() }
    }

    func send(_ response: Response, isHead: Bool) {
        guard isOpen else { return }
        isOpen = false
        var response = response
        PeerStream(connection: connection, number: stream).send(&response, isHead: isHead)
    }

    func finish() {
        guard isOpen else { return }
        isOpen = false
        connection.finish(stream)
    }

    func close() {
        guard !isClosed else { return }
        isOpen = false
        connection.cancel(stream)
    }

    /// Returns false: the reader is the other server, which watches its own client.
    func isUnacknowledged(milliseconds: Int64) -> Bool { false }

    // MARK: From the connection

    /// Notes that everything that was written has left, so that a stream that waits for room may go on.
    func contentSent() {
        guard isFull, isOpen, case .stream(let stream) = owner else { return }
        isFull = false
        stream.producer?.streamWritable()
    }

    func streamClosed() {
        guard !isClosed else { return }
        isClosed = true
        isOpen = false
        loop.sinkClosed(self)
    }
}
