/// A request's method.
public enum HTTPMethod: Sendable, Equatable {
    /// Reads a resource.
    case get
    /// Reads the head of the answer to GET.
    case head
    /// Carries out an operation.
    case post
    /// Creates or replaces a resource.
    case put
    /// Changes a resource.
    case patch
    /// Removes a resource.
    case delete
    /// Asks which methods there are.
    case options
    /// Any other method; `Exchange.methodText` has its name.
    case other

    init(_ name: Span<UInt8>) {
        switch name.count {
        case 3 where ASCII.isSame(name, "GET"): self = .get
        case 3 where ASCII.isSame(name, "PUT"): self = .put
        case 4 where ASCII.isSame(name, "POST"): self = .post
        case 4 where ASCII.isSame(name, "HEAD"): self = .head
        case 5 where ASCII.isSame(name, "PATCH"): self = .patch
        case 6 where ASCII.isSame(name, "DELETE"): self = .delete
        case 7 where ASCII.isSame(name, "OPTIONS"): self = .options
        default: self = .other
        }
    }
}

extension HTTPMethod {
    /// The name as requests and `Allow` have it; that of other methods is `OTHER`.
    public var name: StaticString {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .other: "OTHER"
        }
    }
}
