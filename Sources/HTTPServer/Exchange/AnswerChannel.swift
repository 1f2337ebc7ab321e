/// The way by which an exchange is answered that did not come through libmicrohttpd: a stream of another server's connection.
/// Confined to the exchange's loop.
package protocol AnswerChannel {
    /// Sends an answer as a whole. Its body is moved out of `response`.
    func send(_ response: inout Response, isHead: Bool)
    /// Sends a head without a length, and nothing after it.
    func sendHead(_ response: Response)
    /// Sends header lines ahead of the answer, as an interim response (RFC 9110, 15.2).
    func sendInterim(_ response: Response)
    /// Takes over what a stream of events, or a parked answer, is written to.
    func takeSink() -> any StreamSink
}
