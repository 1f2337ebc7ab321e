/// The HTTP method of a delivery.
public enum WebhookMethod: UInt8, Sendable, CaseIterable {
    case post = 0
    case put = 1
    case patch = 2
    case get = 3
    case delete = 4

    /// The method's name in HTTP.
    public var name: String {
        switch self {
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .get: "GET"
        case .delete: "DELETE"
        }
    }

    /// Finds the method of that name, upper case; nil where there is none.
    public init?(name: String) {
        guard let method = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = method
    }

    /// Whether a request has a body. A GET has none: servers and proxies drop or refuse it (RFC 9110 section 9.3.1).
    public var sendsBody: Bool { self != .get }
}
