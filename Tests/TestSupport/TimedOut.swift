/// A condition did not come true in time.
package struct TimedOut: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}
