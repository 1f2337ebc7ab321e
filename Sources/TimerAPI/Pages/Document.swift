import HTTPServer
import Webhooks

/// A file that never changes, with an entity tag.
struct Document {
    let bytes: [UInt8]
    /// The file's media type.
    let type: String
    let tag: String

    init(_ bytes: [UInt8], type: String) {
        self.bytes = bytes
        self.type = type
        tag = "\"\(SHA256.base64(of: bytes))\""
    }

    /// Fills the response with the file, or with 304 if the client has it.
    func fill(_ exchange: Exchange) {
        exchange.response.add("Cache-Control", "no-cache")
        exchange.response.add("ETag", tag)
        if let value = exchange.list("if-none-match"), Conditions.ifNoneMatch(value, names: tag) {
            exchange.response.status = 304
        } else {
            fillBody(exchange)
        }
    }

    /// Fills the response with the file, whatever the client has.
    func fillBody(_ exchange: Exchange) {
        exchange.response.add("Content-Type", type)
        exchange.response.body = bytes
    }
}
