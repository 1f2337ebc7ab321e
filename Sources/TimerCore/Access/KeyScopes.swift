/// The rights of an access key.
///
/// A set holds the scopes that a client has named. `write` includes `read` and `kick`, and `admin` includes `write`:
/// `allow` judges by that.
public struct KeyScopes: OptionSet, Sendable, Hashable {
    /// A bit for each scope.
    public let rawValue: UInt8

    /// Makes a set of its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// To read timers, events, deliveries and metrics.
    public static let read = KeyScopes(rawValue: 1)
    /// To kick watchdogs.
    public static let kick = KeyScopes(rawValue: 2)
    /// To change timers and deliveries.
    public static let write = KeyScopes(rawValue: 4)
    /// To manage keys, drain, export and import.
    public static let admin = KeyScopes(rawValue: 8)

    /// Each scope with its name, the least first.
    public static let named: [(name: StaticString, scope: KeyScopes)] = [
        ("read", .read), ("kick", .kick), ("write", .write), ("admin", .admin),
    ]

    /// Every scope.
    public static let all: KeyScopes = [.read, .kick, .write, .admin]

    /// The scopes together with those that they include.
    public var withIncluded: KeyScopes {
        if contains(.admin) { return .all }
        return contains(.write) ? [.read, .kick, .write] : self
    }

    /// Whether a key with these scopes may do what takes `scope`.
    public func allow(_ scope: KeyScopes) -> Bool { withIncluded.isSuperset(of: scope) }

    /// The names of the scopes, the least first.
    public var names: [StaticString] { Self.named.filter { contains($0.scope) }.map(\.name) }
}
