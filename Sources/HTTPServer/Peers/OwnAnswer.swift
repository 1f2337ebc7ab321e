/// What a server has answered to a request of its own, and has not told the request's receiver yet.
protocol OwnAnswer: AnyObject {
    /// Tells the receiver. Called in a later step of the loop than the request was made in.
    func tell()
}
