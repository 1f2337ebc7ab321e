import Primitives

/// A request to one server.
public struct HTTPRequest: Sendable {
    /// The methods a client of the service needs.
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// The method.
    public var method: Method
    /// Path and query, percent-encoded, from the first slash on.
    public var target: String
    /// Further header lines; the client adds `Host`, `Content-Length` and the like.
    public var headers: [(name: String, value: String)]
    /// The body; nil for none.
    public var body: [UInt8]?

    /// Makes a request; see the members.
    public init(
        _ method: Method, _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// The reason why the request can't be sent, or nil: line ends and other control characters could inject
    /// header lines.
    var fault: String? {
        guard target.hasPrefix("/"), target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            return "the target is not a percent-encoded path"
        }
        for header in headers {
            guard !header.name.isEmpty, header.name.utf8.allSatisfy(HTTPToken.allows) else {
                return "a header's name is not a token"
            }
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
                return "the value of \(header.name) has a control character"
            }
        }
        return nil
    }
}
