/// Who reads a stream.
struct HTTPStreamReader {
    /// A stream without any byte for so long is given up.
    let silenceSeconds: Int
    /// Hears of the answer's head, whatever its status; false ends the stream.
    let onHead: (HTTPResponse) -> Bool
    /// Takes bytes of a 200's body as they come; false ends the stream.
    let onBytes: ([UInt8]) -> Bool
}
