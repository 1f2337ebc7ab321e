/// The parser's error, which has no pointer yet.
struct JSONFailure: Error {
    /// The byte at fault, counted in the array, not in the text: the two differ when one line of a batch is read.
    var offset: Int
    var reason: JSONReason
}
