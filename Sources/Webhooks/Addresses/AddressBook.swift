/// The addresses of names that were looked up lately.
struct AddressBook {
    /// The time for which an answer is used, in nanoseconds: as long as libcurl would use one of its own.
    static let lifetime: Int64 = 60_000_000_000
    /// The most names that are kept; beyond that all are dropped.
    static let capacity = 4096

    private struct Entry {
        var addresses: [[UInt8]]
        /// The instant at which the entry expires, on the monotonic clock.
        var until: Int64
    }

    private var entries: [String: Entry] = [:]

    /// Returns the addresses of `name`; nil where it has to be looked up.
    func addresses(of name: String, now: Int64) -> [[UInt8]]? {
        entries[name].flatMap { now < $0.until ? $0.addresses : nil }
    }

    /// Whether the last lookup of `name` found an address.
    func knows(_ name: String) -> Bool { entries[name] != nil }

    /// Notes what a lookup found; drops the name where `addresses` is empty.
    mutating func note(_ name: String, _ addresses: [[UInt8]], now: Int64) {
        guard !addresses.isEmpty else {
            entries[name] = nil
            return
        }
        if entries.count >= Self.capacity && entries[name] == nil { entries.removeAll(keepingCapacity: true) }
        entries[name] = Entry(addresses: addresses, until: now + Self.lifetime)
    }
}
