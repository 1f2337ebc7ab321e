package import HTTPServer

/// The format in which a stream writes its events.
package enum StreamFormat {
    /// One JSON object per line.
    case ndjson
    /// Server-sent events.
    case sse
}

extension StreamFormat {
    /// Bytes that a reader skips between two lines: an empty line, or a comment.
    package var filler: StreamChunk { self == .ndjson ? Self.emptyLine : Self.comment }

    private static let emptyLine = StreamChunk("\n".utf8)
    private static let comment = StreamChunk(":\n".utf8)
}
