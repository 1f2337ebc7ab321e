/// Under which further names a listener may be asked that asks for no credential, as `--allow-host` says it.
public enum HostRule: Sendable, Equatable {
    /// That name, in lower case.
    case name(String)
    /// Every name that ends in this, its dot included, in lower case: `.svc.cluster.local`.
    case below(String)
    /// Whatever name.
    case any

    /// Reads `timers.example`, `.svc.cluster.local` or `*`; nil for anything else, a name with a port included.
    public init?(_ text: String) {
        if text == "*" {
            self = .any
            return
        }
        let lowercase = text.lowercased()
        let isBelow = lowercase.hasPrefix(".")
        let labels = lowercase.dropFirst(isBelow ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isNameByte) }) else { return nil }
        self = isBelow ? .below(lowercase) : .name(lowercase)
    }

    /// Whether `host`, in lower case and without a port, may be asked for.
    func allows(_ host: String) -> Bool {
        switch self {
        case .name(let name): host == name
        case .below(let suffix): host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
        case .any: true
        }
    }

    /// Whether a label of a host name has such bytes.
    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
