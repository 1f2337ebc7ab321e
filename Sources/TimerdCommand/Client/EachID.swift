/// The loop of a command that takes several ids, such as `timerd cancel a b c`.
enum EachID {
    /// Runs `body` for every id, also where it fails for some, each of which gets a line on stderr.
    ///
    /// The loop ends early only where no server can be reached any more.
    ///
    /// - Throws: the failure of the only id; of several ids, a failure that counts them, with the first one's exit
    ///   code.
    static func run(_ ids: [String], _ body: (String) throws(Failure) -> Void) throws(Failure) {
        if let id = ids.first, ids.count == 1 { return try body(id) }
        var first: Failure?
        var failed = 0
        for (index, id) in ids.enumerated() {
            do throws(Failure) {
                try body(id)
            } catch {
                failed += 1
                if first == nil { first = error }
                Console.error("timerd: \(Printable.text(id)): \(error.line)")
                let left = ids.count - index - 1
                guard !error.isUnreachable || left == 0 else {
                    throw Failure(error.code, "\(left) of \(ids.count) not tried")
                }
            }
        }
        if let first { throw Failure(first.code, "\(failed) of \(ids.count) failed") }
    }
}
