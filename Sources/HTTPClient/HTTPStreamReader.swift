/// Takes a stream's head and bytes as they come.
struct HTTPStreamReader {
    /// Seconds without a byte after which a stream is aborted.
    let silenceSeconds: Int
    /// Takes the answer's head, whatever its status; false ends the stream.
    let onHead: (HTTPResponse) -> Bool
    /// Takes bytes of a 200's body as they come; false ends the stream.
    let onBytes: ([UInt8]) -> Bool
}
