/// One value of a ``JSONDocument``: its index in the document's flat array of nodes, in reading order.
///
/// A node means something only to the document that handed it out, and only until that document parses again.
public struct JSONNode: Hashable, Sendable {
    let entry: UInt32

    /// The position among all the nodes of the document, 0 for the root.
    public var index: Int { Int(entry) }

    @inline(__always)
    init(entry: UInt32) { self.entry = entry }
}
