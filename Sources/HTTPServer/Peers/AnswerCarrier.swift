/// What takes the answer to a request that did not come by a connection of the library.
protocol AnswerCarrier {
    /// Sends an answer as a whole. Its body is moved out of `response`.
    func send(_ response: inout Response, isHead: Bool)
    /// Sends a head without a length, and nothing after it.
    func sendHead(_ response: Response)
    /// What a stream of events, or a parked answer, is written to; nil where there is none.
    func takeSink(_ peer: SocketAddress?, isCounted: Bool) -> (any StreamSink)?
}
