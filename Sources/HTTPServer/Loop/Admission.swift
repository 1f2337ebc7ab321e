/// A handler's word on a request whose head it has seen.
public enum Admission: Sendable, Equatable {
    /// Read the body, at most so many bytes.
    case accept(bodyLimit: Int)
    /// Answer `exchange.response`, after the body where it is short; `handle` is not called.
    case refuse
}
