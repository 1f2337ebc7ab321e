import Glibc

/// Who may connect to a Unix socket: the mode and the group of its file.
public struct SocketAccess: Sendable, Equatable {
    /// The permissions of owner, group and others, 0 to 0o777.
    public var mode: UInt32
    /// The name or the number of the file's group; nil for the group of the process.
    public var group: String?

    /// The access of the owner alone, if nothing else is said.
    public init(mode: UInt32 = 0o600, group: String? = nil) {
        self.mode = mode
        self.group = group
    }

    /// Reads `mode=0660&group=www`, either part or both, each once.
    ///
    /// Throws: `ListenError` naming what is wrong with `query`, which belongs to the address `name`.
    init(parsing query: Substring, of name: String) throws(ListenError) {
        self.init()
        var known: Set<Substring> = []
        for part in query.split(separator: "&", omittingEmptySubsequences: false) {
            let (key, value) = (part.prefix { $0 != "=" }, part.drop { $0 != "=" }.dropFirst())
            guard known.insert(key).inserted else { throw ListenError("\(name): \(key) comes twice") }
            switch key {
            case "mode":
                let isOctal = (3...4).contains(value.utf8.count) && value.allSatisfy { "01234567".contains($0) }
                guard isOctal, let mode = UInt32(value, radix: 8), mode <= 0o777 else {
                    throw ListenError("\(name): mode is three octal digits, such as 0660")
                }
                self.mode = mode
            case "group":
                guard !value.isEmpty else { throw ListenError("\(name): the group is missing") }
                group = String(value)
            default:
                throw ListenError(
                    "\(name): behind the path of a socket there are mode and group, as in ?mode=0660&group=www")
            }
        }
    }

    /// Finds the number of the file's group; nil where no group is named.
    ///
    /// Throws: `ListenError` where this machine has no such group.
    func groupID(for name: String) throws(ListenError) -> gid_t? {
        guard let group else { return nil }
        // The largest number means to lchown(2) that the group stays.
        if let number = gid_t(group), number < .max { return number }
        var buffer = [CChar](repeating: 0, count: Self.groupBytes)
        var entry = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        _ = unsafe getgrnam_r(group, &entry, &buffer, buffer.count, &found)
        guard unsafe found != nil else { throw ListenError("\(name): this machine has no group \(group)") }
        return unsafe entry.gr_gid
    }

    /// The bytes for the names of a group's members, of which nothing is read.
    private static let groupBytes = 1 << 20
}
