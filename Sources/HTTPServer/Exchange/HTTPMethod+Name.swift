extension HTTPMethod {
    /// The name as requests and `Allow` write it; of other methods, `OTHER`.
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
