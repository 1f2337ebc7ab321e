/// The addresses of names that were looked up lately.
struct AddressBook {
    /// How long an answer is used, in nanoseconds: as long as libcurl would use one of its own.
    static let lifetime: Int64 = 60_000_000_000
    /// Names that are kept; above that all are forgotten.
    static let capacity = 4096

    private struct Entry {
        var addresses: [[UInt8]]
        /// On the monotonic clock.
        var until: Int64
    }

    private var entries: [String: Entry] = [:]

    /// The addresses of `name`; nil where it has to be looked up.
    func addresses(of name: String, now: Int64) -> [[UInt8]]? {
        entries[name].flatMap { now < $0.until ? $0.addresses : nil }
    }

    /// Whether the last lookup of `name` found an address.
    func knows(_ name: String) -> Bool { entries[name] != nil }

    /// Notes what a lookup found; nothing where `addresses` is empty.
    mutating func note(_ name: String, _ addresses: [[UInt8]], now: Int64) {
        guard !addresses.isEmpty else {
            entries[name] = nil
            return
        }
        if entries.count >= Self.capacity && entries[name] == nil { entries.removeAll(keepingCapacity: true) }
        entries[name] = Entry(addresses: addresses, until: now + Self.lifetime)
    }
}
