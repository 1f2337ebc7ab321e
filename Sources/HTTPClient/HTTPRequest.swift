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
            guard HTTPToken.isToken(header.name) else {
                return "a header's name is not a token"
            }
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
                return "the value of \(header.name) has a control character"
            }
        }
        return nil
    }
}

/// An answer.
public struct HTTPResponse: Sendable, Equatable {
    /// A header line.
    public struct Header: Sendable, Equatable {
        /// The name as the server spelled it.
        public var name: String
        /// The value, without the white space around it.
        public var value: String
    }

    /// The status code, 200 to 599.
    public var status: Int
    /// The header lines in their order.
    public var headers: [Header]
    /// The body; empty where `HTTPStreamReader.onBytes` took it.
    public var body: [UInt8]

    /// The value of the first header called `name`, in whatever case.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
