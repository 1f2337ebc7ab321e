import HTTPClient
import Platform
import Primitives

/// The client commands' connection to a server. Used on one thread only.
struct ServiceClient {
    private let http: HTTPClient
    private let authorization: [(name: String, value: String)]
    private let timeoutMs: Int

    /// Reads the server, the token and the authorities to use.
    init(server: String?, token: String?, ca: String?, _ environment: Environment, timeoutMs: Int) throws(Failure) {
        guard let value = try SettingValue.one(.server, flag: server, environment) else {
            throw Failure(.usage, "--\(Setting.server.flag) needs a value")
        }
        guard let address = ServerAddress(value.text) else {
            throw value.refusal("expected http://host:port, https://host or unix:/path")
        }
        let trust = address.isSecure ? try Self.trust(ca, environment) : .system
        try self.init(
            address, trust: trust, token: SettingValue.one(.token, flag: token, environment)?.text,
            timeoutMs: timeoutMs)
    }

    /// Makes a client of the server at `address`.
    init(_ address: ServerAddress, trust: ServerTrust, token: String? = nil, timeoutMs: Int) throws(Failure) {
        do throws(HTTPClientError) {
            http = try HTTPClient(address, trust: trust)
        } catch {
            throw Failure(error)
        }
        authorization = token.map { [("Authorization", "Bearer \($0)")] } ?? []
        self.timeoutMs = timeoutMs
    }

    /// The servers that are trusted over TLS, by the flag or its variable.
    private static func trust(_ ca: String?, _ environment: Environment) throws(Failure) -> ServerTrust {
        guard let file = try SettingValue.one(.ca, flag: ca, environment)?.nonEmpty() else { return .system }
        guard FileBytes.read(file, limit: 1) != nil else {
            throw Failure(.unusable, "the file of authorities \(file) can't be read or is no regular file")
        }
        return .authorities(file: file)
    }

    /// The address of the server.
    var address: ServerAddress { http.address }

    /// Sends a request. Returns any answer, whatever its status.
    func exchange(_ request: HTTPRequest) throws(Failure) -> HTTPResponse {
        do throws(HTTPClientError) {
            return try http.send(authorized(request), timeoutMs: timeoutMs)
        } catch {
            throw Failure(error)
        }
    }

    /// Sends a request. An answer that is no 2xx is a failure that shows the server's problem.
    func send(_ request: HTTPRequest) throws(Failure) -> HTTPResponse {
        let response = try exchange(request)
        guard 200..<300 ~= response.status else { throw Failure(response) }
        return response
    }

    /// Opens a stream; see `HTTPClient.stream`.
    func stream(
        _ request: HTTPRequest, silenceSeconds: Int, onHead: @escaping (HTTPResponse) -> Bool,
        onBytes: @escaping ([UInt8]) -> Bool
    ) throws(HTTPClientError) -> HTTPResponse {
        try http.stream(authorized(request), silenceSeconds: silenceSeconds, onHead: onHead, onBytes: onBytes)
    }

    private func authorized(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.headers += authorization
        return request
    }
}

/// Puts together the path and query of a request, percent-encoded.
struct RequestTarget {
    /// The path and query so far.
    private(set) var text = ""
    private var hasQuery = false

    /// Begins with a path whose parts are encoded: `RequestTarget("v1", "timers", id)`.
    init(_ parts: String...) {
        for part in parts { text += "/" + Self.encoded(part) }
    }

    /// Adds a parameter where it has a value.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += (hasQuery ? "&" : "?") + name + "=" + Self.encoded(value)
        hasQuery = true
    }

    /// Encodes all but the unreserved characters of RFC 3986. `.` and `..` are encoded too, as they would be steps
    /// of the path; the server decodes them and refuses them as ids.
    private static func encoded(_ text: String) -> String {
        let isStep = text == "." || text == ".."
        return Hexadecimal.percentEncoded(text.utf8) {
            Alphanumeric.contains($0) || "-_~".utf8.contains($0) || $0 == UInt8(ascii: ".") && !isStep
        }
    }
}

extension HTTPRequest {
    /// Makes a POST with a body of JSON.
    static func post(_ target: String, json: [UInt8]) -> HTTPRequest {
        HTTPRequest(.post, target, headers: [("Content-Type", "application/json")], body: json)
    }
}
