/// What the parser throws: an error that has no pointer yet.
struct JSONFailure: Error {
    /// A byte of the array, not of the text: the two differ when one line of a batch is read.
    var offset: Int
    var reason: JSONReason
}
