/// A handler's decision about a request whose head is complete.
public enum Admission: Sendable, Equatable {
    /// Read the body, of at most `bodyLimit` bytes.
    case accept(bodyLimit: Int)
    /// Answer with `exchange.response`, after the body where that is short; `handle` is not called.
    case refuse
}
