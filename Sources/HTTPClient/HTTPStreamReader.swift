/// Takes a stream's head and bytes as they come.
struct HTTPStreamReader {
    /// A stream without a byte for this long is given up.
    let silenceSeconds: Int
    /// Takes the answer's head, whatever its status; false ends the stream.
    let onHead: (HTTPResponse) -> Bool
    /// Takes bytes of a 200's body as they come; false ends the stream.
    let onBytes: ([UInt8]) -> Bool
}
