/// A request's method.
public enum HTTPMethod: Sendable, Equatable {
    /// Read.
    case get
    /// Read the head of what GET gives.
    case head
    /// Do.
    case post
    /// Create or replace.
    case put
    /// Change.
    case patch
    /// Remove.
    case delete
    /// Ask what is possible.
    case options
    /// Anything else; `Exchange.methodText` has its name.
    case other

    init(_ name: UnsafeRawBufferPointer) {
        switch name.count {
        case 3 where unsafe name.elementsEqual("GET".utf8): self = .get
        case 3 where unsafe name.elementsEqual("PUT".utf8): self = .put
        case 4 where unsafe name.elementsEqual("POST".utf8): self = .post
        case 4 where unsafe name.elementsEqual("HEAD".utf8): self = .head
        case 5 where unsafe name.elementsEqual("PATCH".utf8): self = .patch
        case 6 where unsafe name.elementsEqual("DELETE".utf8): self = .delete
        case 7 where unsafe name.elementsEqual("OPTIONS".utf8): self = .options
        default: self = .other
        }
    }
}
