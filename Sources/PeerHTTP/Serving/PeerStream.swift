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

    /// Turns the stream into a sink, to which a stream of events, or a parked answer, is written.
    func takeSink(_ peer: SocketAddress?) -> any StreamSink { connection.takeSink(number, peer) }
}
