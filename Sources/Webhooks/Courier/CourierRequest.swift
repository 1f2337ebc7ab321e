import Primitives

/// An HTTP request that the courier is to make.
public struct CourierRequest: Sendable {
    /// The caller's number for the request; the result has the same.
    public var serial: UInt64
    /// The method in upper case; not `HEAD`.
    public var method: String
    /// The URL: absolute, `http` or `https`, without user name and fragment.
    public var url: String
    /// Header lines to send. Only `Host`, `Content-Length` and `Accept: */*` are added to them.
    public var headers: [(name: String, value: String)]
    /// The body; nil for none, and then methods other than GET say `Content-Length: 0`.
    public var body: [UInt8]?
    /// Milliseconds for the whole request, from resolving the name to the end of the answer.
    public var timeoutMs: Int

    /// Makes a request; see the members.
    public init(
        serial: UInt64, method: String, url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, timeoutMs: Int
    ) {
        self.serial = serial
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMs = timeoutMs
    }

    /// The reason why the request can't be sent as it is, in one line; nil where it can. A line end in its parts
    /// could inject header lines.
    var fault: String? {
        guard !method.isEmpty, method.utf8.allSatisfy(HTTPToken.allows) else { return "the method is no word of HTTP" }
        // libcurl would wait for the body that such an answer does not have.
        guard method != "HEAD" else { return "HEAD can't be sent" }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return "the URL has a space or a control character"
        }
        for header in headers {
            guard !header.name.isEmpty, header.name.utf8.allSatisfy(HTTPToken.allows) else {
                return "a header's name is no word of HTTP"
            }
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return "the header \(header.name) has a control character"
            }
        }
        return nil
    }
}
