/// A hierarchical timing wheel (Varghese and Lauck, "Hashed and hierarchical timing wheels", scheme 7) of
/// one-millisecond ticks: eight levels of 64 slots reach past the year 9999.
///
/// A slot is a chain of chunks of plain entries. Cancelling is lazy: an entry whose timer is no longer armed with its
/// generation is dropped when it is next touched, and a sweep touches them once they outnumber the live. Every call
/// touches a bounded number of entries, however many share a slot: a slot that is being emptied is "in transit" between
/// calls, and a slot that is being swept is kept beside it, so that due entries need not wait for a sweep.
struct TimerWheel: ~Copyable {
    /// One arming of one timer.
    struct Entry: BitwiseCopyable, Equatable {
        /// The due instant, in milliseconds on the wheel's clock.
        var due: Int64
        var slot: SlotIndex
        var generation: UInt32
    }

    private struct Chunk: BitwiseCopyable {
        var next: Int32
        var count: Int32
        /// The earliest and the latest instant of the chunk's entries.
        var earliest = Int64.max
        var latest = Int64.min
    }

    /// The chunks of a slot, taken out of it so that their entries are handed out or placed again.
    private struct Chain: BitwiseCopyable {
        var head = TimerWheel.none
        /// The entries of the first chunk that are done.
        var taken: Int32 = 0
        /// The instant at which the slot began, and the earliest instant in it.
        var start = Int64.max
        var earliest = Int64.max

        var isEmpty: Bool { head == TimerWheel.none }
    }

    /// Entries of a slot that lie together, with their earliest and latest instant.
    struct Run: BitwiseCopyable {
        fileprivate var chunk: Int
        fileprivate var start: Int32
        fileprivate var end: Int32
        var earliest: Int64
        var latest: Int64
    }

    private static let levels = 8
    private static let slotsPerLevel = 64
    private static let chunkCapacity = 256
    private static let none: Int32 = -1
    /// The excess of dead entries over live ones below which a sweep is not worth it.
    private static let sweepThreshold = 4096
    /// The entries that a sweep looks at for one of the budget: it only looks whether each is still armed, and a call
    /// that looked at few would soon be followed by the next.
    private static let sweptPerTouch = 16

    private var entries = PagedStorage<Entry>(pageShift: 14, fill: Entry(due: 0, slot: 0, generation: 0))
    private var chunks = PagedStorage<Chunk>(pageShift: 10, fill: Chunk(next: -1, count: 0))
    private var freeChunk = TimerWheel.none
    /// The first chunk and the earliest instant of each slot; empty until the first entry comes, as most servers
    /// leave one of their three wheels empty.
    private var heads: [Int32] = []
    private var earliest: [Int64] = []
    private var occupied = [UInt64](repeating: 0, count: TimerWheel.levels)
    /// The slot whose time has come.
    private var transit = Chain()
    /// The slot that is looked through for dead entries before its time.
    private var swept = Chain()
    private var sweepSlot = 0
    /// The number of slots that were swept.
    private(set) var sweeps = 0
    /// The number of slots that were taken apart, to be swept or because their time had come.
    private(set) var detachments = 0
    /// The instant before which everything due has been handed out.
    private(set) var position: Int64
    /// The number of entries held, live or not.
    private(set) var count = 0
    /// The number of timers armed here.
    private(set) var live = 0

    /// The reach of eight levels: a due instant from here on (the year 10889) is placed at the end of the wheel.
    private static let reach: Int64 = 1 << 48

    /// Makes an empty wheel at `position` milliseconds, at 0 if that is negative: placing is by the bits in which
    /// two instants differ, so none may be negative.
    init(position: Int64) { self.position = min(max(position, 0), Self.reach - 1) }

    /// Adds the entry of a timer that is armed; one whose instant has passed is due at once.
    mutating func insert(_ entry: Entry) {
        live += 1
        if heads.isEmpty { makeSlots() }
        place(entry)
    }

    private mutating func makeSlots() {
        heads = [Int32](repeating: Self.none, count: Self.levels * Self.slotsPerLevel)
        earliest = [Int64](repeating: .max, count: Self.levels * Self.slotsPerLevel)
    }

    /// Notes that an armed timer is armed no longer; the timer's entry is dropped when it is touched.
    mutating func cancel() { live -= 1 }

    private mutating func place(_ entry: Entry) {
        let due = min(max(entry.due, position), Self.reach - 1)
        let distance = UInt64(bitPattern: due ^ position) | 63
        let level = (63 - distance.leadingZeroBitCount) / 6
        let slot = Int(truncatingIfNeeded: due >> Int64(6 * level)) & 63
        let index = level * Self.slotsPerLevel + slot
        var chunk = heads[index]
        if chunk == Self.none || chunks[Int(chunk)].count == Int32(Self.chunkCapacity) {
            let fresh = takeChunk()
            chunks[Int(fresh)] = Chunk(next: chunk, count: 0)
            heads[index] = fresh
            chunk = fresh
            occupied[level] |= 1 << UInt64(slot)
        }
        var held = chunks[Int(chunk)]
        entries[Int(chunk) * Self.chunkCapacity + Int(held.count)] = entry
        held.count += 1
        held.earliest = min(held.earliest, entry.due)
        held.latest = max(held.latest, entry.due)
        chunks[Int(chunk)] = held
        if entry.due < earliest[index] { earliest[index] = entry.due }
        count += 1
    }

    private mutating func takeChunk() -> Int32 {
        if freeChunk != Self.none {
            let chunk = freeChunk
            freeChunk = chunks[Int(chunk)].next
            return chunk
        }
        _ = entries.grow(by: Self.chunkCapacity)
        return Int32(chunks.grow(by: 1))
    }

    /// An instant not after the next due one: exact once its slot has been cascaded. Nil when nothing is held.
    var nextWake: Int64? {
        if !transit.isEmpty { return position }
        for level in 0..<Self.levels where occupied[level] != 0 {
            return min(
                swept.earliest, earliest[level * Self.slotsPerLevel + occupied[level].trailingZeroBitCount])
        }
        return swept.isEmpty ? nil : swept.earliest
    }

    /// Hands out what is due at or before `now`, in due order, and moves the wheel there.
    ///
    /// - Parameters:
    ///   - budget: the most entries to touch, less those touched on return; a due entry counts as its weight, and
    ///     sixteen that are swept as one.
    ///   - due: the list to which live due entries are appended, sorted by due instant and slot within each slot's
    ///     piece.
    ///   - armed: the timers, which know whether one is still armed with an entry.
    /// - Returns: whether everything due was handed out.
    mutating func expire<Armed>(
        _ now: Int64, budget: inout Int, into due: inout [Entry], armed: borrowing Armed
    ) -> Bool where Armed: ArmedTimers & ~Copyable {
        if wantsSweep { sweep(&budget, armed: armed) }
        while true {
            let start = due.count
            let emptied = drainTransit(&budget, into: &due, armed: armed)
            // Sorting a slice copies it, which one entry or none is not worth.
            if due.count > start + 1 { due[start...].sort { ($0.due, $0.slot) < ($1.due, $1.slot) } }
            guard emptied else { return false }
            guard let next = nextOccupied(), next.start <= now else { break }
            position = max(position, next.start)
            begin(next.index)
        }
        position = max(position, now)
        return true
    }

    /// Returns the slot that comes next; a nil index means the one that is being swept.
    private func nextOccupied() -> (index: Int?, start: Int64)? {
        for level in 0..<Self.levels where occupied[level] != 0 {
            let index = level * Self.slotsPerLevel + occupied[level].trailingZeroBitCount
            let start = start(of: index)
            return swept.start <= start ? (nil, swept.start) : (index, start)
        }
        return swept.isEmpty ? nil : (nil, swept.start)
    }

    /// Puts a slot in transit; nil for the one that is being swept.
    private mutating func begin(_ index: Int?) {
        if let index {
            transit = detach(index)
        } else {
            transit = swept
            swept = Chain()
        }
    }

    private mutating func detach(_ index: Int) -> Chain {
        let chain = Chain(head: heads[index], start: start(of: index), earliest: earliest[index])
        heads[index] = Self.none
        earliest[index] = .max
        occupied[index / Self.slotsPerLevel] &= ~(1 << UInt64(index % Self.slotsPerLevel))
        detachments += 1
        return chain
    }

    /// Empties the slot in transit: due entries go to `due`, later ones to their slot, dead ones nowhere. Returns
    /// false once the budget is spent.
    private mutating func drainTransit<Armed>(
        _ budget: inout Int, into due: inout [Entry], armed: borrowing Armed
    ) -> Bool where Armed: ArmedTimers & ~Copyable {
        while !transit.isEmpty {
            let chunk = Int(transit.head)
            while transit.taken < chunks[chunk].count {
                guard budget > 0 else { return false }
                budget -= 1
                let entry = entries[chunk * Self.chunkCapacity + Int(transit.taken)]
                transit.taken += 1
                count -= 1
                guard armed.isArmed(with: entry) else { continue }
                if entry.due <= position {
                    live -= 1
                    due.append(entry)
                    budget -= armed.weight(of: entry) - 1
                } else {
                    place(entry)
                }
            }
            transit.head = chunks[chunk].next
            transit.taken = 0
            release(chunk)
        }
        return true
    }

    private mutating func release(_ chunk: Int) {
        chunks[chunk].next = freeChunk
        freeChunk = Int32(chunk)
    }

    /// Drops the dead entries of one slot and puts the live ones back, with at most half of the budget, each unit of
    /// which pays for several entries.
    private mutating func sweep<Armed>(_ budget: inout Int, armed: borrowing Armed)
    where Armed: ArmedTimers & ~Copyable {
        if swept.isEmpty { beginSweep() }
        let half = max(0, (budget + 1) / 2)
        budget -= half
        var share = half * Self.sweptPerTouch
        while !swept.isEmpty {
            let chunk = Int(swept.head)
            while swept.taken < chunks[chunk].count {
                guard share > 0 else { return }
                share -= 1
                let entry = entries[chunk * Self.chunkCapacity + Int(swept.taken)]
                swept.taken += 1
                count -= 1
                if armed.isArmed(with: entry) { place(entry) }
            }
            swept.head = chunks[chunk].next
            swept.taken = 0
            release(chunk)
        }
        budget += share / Self.sweptPerTouch
        swept = Chain()
    }

    private mutating func beginSweep() {
        for _ in 0..<heads.count {
            sweepSlot = (sweepSlot + 1) % heads.count
            if heads[sweepSlot] != Self.none {
                swept = detach(sweepSlot)
                sweeps += 1
                return
            }
        }
    }

    /// Whether dead entries outnumber the live so far that `expire` should be called to sweep.
    var wantsSweep: Bool { count - live > live + Self.sweepThreshold }

    // Reading goes slot by slot in time order, first the slots that were taken apart: their entries may be put back
    // into later slots meanwhile. As long as a slot is neither swept nor reached (`position` is before its start), its
    // runs stay; an entry armed later is in none of them, or at the end of one.

    /// Returns the first slot from `slot` on that holds entries, nil when none does; 0 is the first of all.
    func nextSlot(from slot: Int) -> Int? {
        var level = slot / Self.slotsPerLevel
        var mask = UInt64.max << UInt64(slot % Self.slotsPerLevel)
        while level < Self.levels {
            let rest = occupied[level] & mask
            if rest != 0 { return level * Self.slotsPerLevel + rest.trailingZeroBitCount }
            level += 1
            mask = .max
        }
        return nil
    }

    /// Returns an instant not after that of any entry in a slot that holds some.
    func earliest(in slot: Int) -> Int64 { earliest[slot] }

    /// Returns the instant at which a slot begins.
    func start(of slot: Int) -> Int64 {
        let shift = Int64(6 * (slot / Self.slotsPerLevel))
        let base = (position >> (shift + 6)) << (shift + 6)
        return base + Int64(slot % Self.slotsPerLevel) << shift
    }

    /// Returns the runs of a slot, or with nil those of the slots that were taken apart.
    func runs(in slot: Int?) -> [Run] {
        guard let slot else { return runs(of: transit) + runs(of: swept) }
        return runs(of: Chain(head: heads[slot]))
    }

    private func runs(of chain: Chain) -> [Run] {
        var runs: [Run] = []
        var chunk = chain.head
        while chunk != Self.none {
            let found = chunks[Int(chunk)]
            runs.append(
                Run(
                    chunk: Int(chunk), start: chunk == chain.head ? chain.taken : 0, end: found.count,
                    earliest: found.earliest, latest: found.latest))
            chunk = found.next
        }
        return runs
    }

    /// Hands the entries of a run to `body`.
    func forEach(in run: Run, _ body: (Entry) -> Void) {
        for place in run.start..<run.end { body(entries[run.chunk * Self.chunkCapacity + Int(place)]) }
    }
}

/// The timers of a wheel, which distinguish its live entries from dead ones.
protocol ArmedTimers: ~Copyable {
    /// Whether the entry's timer is armed, with that generation.
    func isArmed(with entry: TimerWheel.Entry) -> Bool
    /// Returns the cost of handing out an entry that is due, in entries that are only touched; at least 1.
    func weight(of entry: TimerWheel.Entry) -> Int
}
