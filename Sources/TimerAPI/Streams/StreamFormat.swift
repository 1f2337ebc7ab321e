/// How a stream writes its events.
package enum StreamFormat {
    /// A JSON object a line.
    case ndjson
    /// Server-sent events.
    case sse
}
