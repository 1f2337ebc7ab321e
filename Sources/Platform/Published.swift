import Synchronization

/// A value that one thread replaces whole while others read it: configuration that can change while the server runs.
public final class Published<Value: Sendable>: Sendable {
    private let current: Guarded<Value>
    /// The number of the newest value, by which a reader knows without the lock whether its copy is the newest.
    private let generation = Atomic<UInt64>(0)

    /// Publishes a first value.
    public init(_ value: Value) { current = Guarded(value) }

    /// The newest value. May be read on any thread.
    public var value: Value { current.withLock { $0 } }

    /// Replaces the value; a reader that has the old one keeps it. May be called on any thread.
    public func publish(_ value: Value) {
        current.withLock { current in
            current = value
            generation.add(1, ordering: .releasing)
        }
    }

    /// A reader's own copy of a published value, for paths on which a lock for each read costs too much.
    public struct Copy: Sendable {
        private let source: Published
        private var generation: UInt64
        /// The value as of the last `refresh`.
        public private(set) var value: Value

        /// Copies the newest value of `source`.
        public init(_ source: Published) {
            self.source = source
            (generation, value) = source.current.withLock { current in
                (source.generation.load(ordering: .relaxed), current)
            }
        }

        /// Whether there is a newer value.
        @inline(__always)
        public var isStale: Bool { source.generation.load(ordering: .acquiring) != generation }

        /// Copies the newest value, where there is a newer one. Returns whether there was one.
        @inline(__always)
        public mutating func refresh() -> Bool {
            if !isStale { return false }
            self = Copy(source)
            return true
        }
    }
}
