/// A promise of the contract that did not hold.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws unless `condition` holds.
func promise(_ condition: Bool, _ text: @autoclosure () -> String) throws(BrokenPromise) {
    if !condition { throw BrokenPromise(text()) }
}
