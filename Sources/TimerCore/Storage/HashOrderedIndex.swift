import Primitives

/// A map from 32-bit hashes to 32-bit values that keeps its entries in hash order: an extendible hash table
/// (Fagin, Nievergelt, Pippenger and Strong, "Extendible hashing") whose pages are sorted.
///
/// The top bits of a hash choose the page; a full page splits in two. So no step moves more than a page, growth never
/// rehashes the rest, and walking in hash order, which list cursors rely on, is reading the pages in turn.
/// Several entries may share a hash. Hashes are keyed, so they spread.
struct HashOrderedIndex {
    /// The most entries a page holds before it splits.
    static let pageCapacity = 64
    /// The most entries of the directory for each page; a page that only a larger directory could split grows
    /// instead. Hashes that spread stay far below.
    static let directorySpread = 64
    /// The top bits of a hash by which many entries are grouped to be put in: a group of a million is a few pages.
    private static let groupBits: UInt64 = 12

    private struct Page {
        var depth: UInt8
        var entries: [UInt64]
    }

    private var directory: [UInt32] = [0]
    private var depth: UInt8 = 0
    private var pages: [Page] = [Page(depth: 0, entries: [])]
    /// The number of entries.
    private(set) var count = 0
    /// The sum of what `fetchPages` has read: the compiler drops reads whose results go nowhere.
    private var fetched: UInt64 = 0

    static func entry(_ hash: UInt32, _ value: UInt32) -> UInt64 { UInt64(hash) << 32 | UInt64(value) }

    private func directoryIndex(_ hash: UInt32) -> Int { depth == 0 ? 0 : Int(hash >> (32 - UInt32(depth))) }

    /// Returns the index in a page of the first entry not below `entry`.
    private static func lowerBound(_ entries: [UInt64], _ entry: UInt64) -> Int {
        entries.countPrefix { $0 < entry }
    }

    /// Adds an entry, which is not there yet.
    mutating func insert(hash: UInt32, value: UInt32) {
        var page = Int(directory[directoryIndex(hash)])
        while pages[page].entries.count >= Self.pageCapacity && canSplit(page) {
            split(page, hash)
            page = Int(directory[directoryIndex(hash)])
        }
        let entry = Self.entry(hash, value)
        pages[page].entries.insert(entry, at: Self.lowerBound(pages[page].entries, entry))
        count += 1
    }

    /// Adds many entries, each as made by `entry`: at most some thousands, or as many as there are, so that no page
    /// gets many times what it holds.
    mutating func insert(_ entries: [UInt64]) {
        // The entries' pages lie all over memory. If there are more entries than pages, they are put in page by
        // page. If there are fewer, their pages are read before, so that the memory fetches overlap; otherwise each
        // insertion would wait for its own.
        let isDense = entries.count > pages.count
        if !isDense { fetchPages(of: entries) }
        for entry in isDense ? Self.grouped(entries) : entries {
            insert(hash: UInt32(truncatingIfNeeded: entry >> 32), value: UInt32(truncatingIfNeeded: entry))
        }
    }

    /// Reads the pages of `entries`, or of any values whose top half is a hash: the fetches from memory overlap, and those who
    /// look for the hashes next find their pages in the cache.
    mutating func fetchPages(of entries: [UInt64]) {
        for entry in entries {
            let page = Int(directory[directoryIndex(UInt32(truncatingIfNeeded: entry >> 32))])
            let count = pages[page].entries.count
            if count > 0 { fetched &+= pages[page].entries[count >> 1] }
        }
    }

    /// Returns `entries` with those of neighbouring hashes together: sorted by the top bits, counting how many have
    /// each.
    private static func grouped(_ entries: [UInt64]) -> [UInt64] {
        func group(_ entry: UInt64) -> Int { Int(truncatingIfNeeded: entry >> (64 - groupBits)) }
        var places = [Int](repeating: 0, count: 1 << groupBits)
        for entry in entries { places[group(entry)] += 1 }
        var next = 0
        for index in places.indices { (places[index], next) = (next, next + places[index]) }
        var grouped = [UInt64](repeating: 0, count: entries.count)
        for entry in entries {
            grouped[places[group(entry)]] = entry
            places[group(entry)] += 1
        }
        return grouped
    }

    private func canSplit(_ page: Int) -> Bool {
        pages[page].depth < depth || depth < 32 && directory.count < pages.count * Self.directorySpread
    }

    private mutating func split(_ page: Int, _ hash: UInt32) {
        let old = pages[page].depth
        if old == depth {
            directory = directory.flatMap { [$0, $0] }
            depth += 1
        }
        let bit = UInt32(1) << (31 - UInt32(old))
        let boundary = Self.lowerBound(pages[page].entries, UInt64((hash & ~(bit - 1)) | bit) << 32)
        var upper: [UInt64] = []
        upper.reserveCapacity(Self.pageCapacity)
        upper.append(contentsOf: pages[page].entries[boundary...])
        pages[page].entries.removeSubrange(boundary...)
        pages[page].depth = old + 1
        pages.append(Page(depth: old + 1, entries: upper))
        // The page's directory entries are one run; its upper half now belongs to the new page.
        let run = 1 << Int(depth - old)
        let start = directoryIndex(hash) & ~(run - 1)
        for index in start + run / 2..<start + run { directory[index] = UInt32(pages.count - 1) }
    }

    /// Removes an entry. Returns whether it was there.
    @discardableResult
    mutating func remove(hash: UInt32, value: UInt32) -> Bool {
        let page = Int(directory[directoryIndex(hash)])
        let entry = Self.entry(hash, value)
        let index = Self.lowerBound(pages[page].entries, entry)
        guard index < pages[page].entries.count, pages[page].entries[index] == entry else { return false }
        pages[page].entries.remove(at: index)
        count -= 1
        return true
    }

    /// Returns the first value under `hash` that `matches`.
    func find(hash: UInt32, where matches: (UInt32) -> Bool) -> UInt32? {
        let page = Int(directory[directoryIndex(hash)])
        let entries = pages[page].entries
        var index = Self.lowerBound(entries, Self.entry(hash, 0))
        while index < entries.count, UInt32(truncatingIfNeeded: entries[index] >> 32) == hash {
            let value = UInt32(truncatingIfNeeded: entries[index])
            if matches(value) { return value }
            index += 1
        }
        return nil
    }

    /// Hands the entries from `hash` on to `body`, in hash order, until it returns false.
    func walk(from hash: UInt32, _ body: (_ hash: UInt32, _ value: UInt32) -> Bool) {
        var index = directoryIndex(hash)
        let first = Self.entry(hash, 0)
        while index < directory.count {
            let page = pages[Int(directory[index])]
            for entry in page.entries[Self.lowerBound(page.entries, first)...] {
                guard body(UInt32(truncatingIfNeeded: entry >> 32), UInt32(truncatingIfNeeded: entry)) else { return }
            }
            let run = 1 << Int(depth - page.depth)
            index = (index & ~(run - 1)) + run
        }
    }
}
