import TimerCore
import TimerLog

/// Which partition each line of a batch belongs to: the lines of one partition are applied together, in the order in which
/// they came.
struct LineSpread {
    /// The lines of one partition, as a range of `order`.
    struct Leg {
        let partition: Int
        let lines: Range<Int>
    }

    private let layout: PartitionLayout
    private let siphash: SipHash
    private let key: Hash128?
    /// Where timers go whose lines name none.
    private let range: DrawRange
    /// The partition of the first leg, whether it has lines or not; nil for none.
    private let home: Int?
    private let count: Int
    /// The partitions of the lines so far.
    private var partitions: [UInt16] = []
    /// The ids of timers whose lines name none. Under an idempotency key they are drawn when their lines are read.
    private var ids: [Int: [UInt8]] = [:]
    /// Numbers of lines, leg by leg; empty until each line has its partition.
    private(set) var order: [Int] = []
    private(set) var legs: [Leg] = []

    /// - Parameters:
    ///   - count: how many lines there are.
    ///   - key: the request's idempotency key, if it has one. A line that names no timer has then the same partition each
    ///     time, though not the same id.
    init(count: Int, _ layout: PartitionLayout, siphash: SipHash, key: Hash128?) {
        self.count = count
        self.layout = layout
        self.siphash = siphash
        self.key = key
        range = DrawRange(layout, siphash: siphash)
        // In its key's own partition any other request with the key is met: that leg is the first, if it has lines or not.
        home = key.map { layout.partition(ofHash: $0.high) } ?? (count == 0 ? 0 : nil)
        if count == 0 { finish() }
    }

    /// The number of the next line that has no partition yet; nil when each has.
    var next: Int? { partitions.count < count ? partitions.count : nil }

    /// Gives the next line its partition.
    ///
    /// - Parameters:
    ///   - id: the timer that the line names, if it names one.
    ///   - makeID: draws an id.
    mutating func add(_ id: [UInt8]?, makeID: () -> [UInt8]) {
        let line = partitions.count
        let partition: Int
        if let id {
            partition = self.partition(of: id)
        } else if key != nil {
            partition = self.partition(ofLine: line)
        } else {
            let id = range.id(makeID)
            ids[line] = id
            partition = self.partition(of: id)
        }
        partitions.append(UInt16(partition))
        if next == nil { finish() }
    }

    /// The id of the timer that a line makes without naming it.
    func id(ofLine line: Int, makeID: () -> [UInt8]) -> [UInt8] {
        if let id = ids[line] { return id }
        return layout.draw(in: Int(partitions[line]), siphash, makeID: makeID)
    }

    private func partition(of id: [UInt8]) -> Int {
        guard TimerID.isValid(id) else { return 0 }
        return layout.partition(ofHash: TimerKey(id: id.span, siphash: siphash).hash)
    }

    private func partition(ofLine line: Int) -> Int {
        var bytes: [UInt8] = []
        for number in [key?.high ?? 0, key?.low ?? 0, UInt64(line)] { ByteCoding.append(number, to: &bytes) }
        return layout.partition(ofHash: siphash.hash(bytes.span, tweak: 4))
    }

    private mutating func finish() {
        let home = home
        func rank(_ line: Int) -> Int { partitions[line] == home ?? -1 ? -1 : Int(partitions[line]) }
        order = Array(0..<count).sorted { (rank($0), $0) < (rank($1), $1) }
        if let home, order.isEmpty || partitions[order[0]] != home { legs.append(Leg(partition: home, lines: 0..<0)) }
        var start = 0
        while start < count {
            let partition = partitions[order[start]]
            let end = order[start...].firstIndex { partitions[$0] != partition } ?? count
            legs.append(Leg(partition: Int(partition), lines: start..<end))
            start = end
        }
    }
}
