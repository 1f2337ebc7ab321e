/// The kind of a JSON value.
public enum JSONKind: UInt8, Sendable {
    case object
    case array
    case string
    case number
    case `true`
    case `false`
    case null
}
