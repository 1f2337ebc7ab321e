import Platform

/// An opening that threads wait for.
package final class Gate: Sendable {
    /// The number of threads that may still pass.
    private let places = Guarded(0)

    package init() {}

    /// Opens the gate for `more` threads; without a number, for every thread from now on.
    package func open(_ more: Int = 1_000_000) { places.update { $0 += more } }

    /// Waits until a thread may pass, and takes its place.
    package func pass() {
        places.wait { (places: inout Int) -> Void? in
            if places == 0 { return nil }
            places -= 1
            return ()
        }
    }
}
