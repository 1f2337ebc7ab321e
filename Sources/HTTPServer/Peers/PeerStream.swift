/// A stream of another server's connection, by which it has forwarded a request.
struct PeerStream {
    let connection: PeerConnection
    let number: Int32

    /// Sends an answer as a whole. Its body is moved out of `response`.
    func send(_ response: inout Response, isHead: Bool) {
        let hasContent = !isHead && !ResponseHead.isBodyless(response.status)
        let content = hasContent ? response.body : []
        connection.send(number, response, length: response.body.count, content: content.isEmpty ? nil : content)
        response.body = []
    }

    /// Sends a head without a length, and nothing after it.
    func sendHead(_ response: Response) { connection.sendHead(number, response) }

    /// What a stream of events, or a parked answer, is written to.
    func takeSink(_ peer: SocketAddress?) -> PeerSink { connection.takeSink(number, peer) }
}
