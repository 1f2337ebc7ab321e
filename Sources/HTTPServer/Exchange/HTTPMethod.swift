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
