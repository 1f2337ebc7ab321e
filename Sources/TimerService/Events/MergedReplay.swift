import TimerLog

/// One read of several partitions' stores, merged, up to the feed's head.
struct MergedReplay {
    /// A partition, and how far its rows were read.
    private struct Part {
        let source: any EventSource
        let reader: any LogReader
        /// Position after which every row was in memory before the read began.
        let floor: Int64
        /// What was read together with the other partitions and is not looked at yet.
        var portion: LogPortion?
        /// Rows that were read and are not in the merge yet, the next one last.
        var rows: [LogRow] = []
        /// Everything up to here was read.
        var readThrough: Int64
        /// Whether rows were read already.
        var hasRead = false
        /// Whether this run reads no more of it.
        var isComplete = false
    }

    private var parts: [Part] = []
    private var merge: SliceMerge
    private let volume: (any LogVolume)?
    private let end: Int64
    /// Bytes of rows that are read in all, and of one partition at once.
    private let bytes: Int
    private let portion: Int

    /// Begins behind `position`.
    ///
    /// - Parameters:
    ///   - end: the feed's head; nothing behind it is shown.
    ///   - bytes: bytes of rows that are read in all, roughly.
    init(
        _ sources: [any EventSource], _ layout: PartitionLayout, after position: Int64, end: Int64,
        bytes: Int = Replayer.bytesARead, _ readers: ReplayReaders, _ volume: (any LogVolume)? = nil
    ) throws(StoreError) {
        self.volume = volume
        self.end = end
        self.bytes = bytes
        portion = bytes / max(1, sources.count)
        merge = SliceMerge(layout, numbers: sources.map(\.number), after: position, end: end)
        for source in sources {
            parts.append(
                Part(
                    source: source, reader: try readers.reader(of: source), floor: source.hub.floor,
                    readThrough: position))
        }
        guard position < end, !sources.isEmpty else { return }
        let starts = sources.map { (partition: $0.number, position: position + 1) }
        guard let portions = try volume?.portions(from: starts, bytes: portion) else { return }
        for (index, portion) in zip(parts.indices, portions) { parts[index].portion = portion }
    }

    /// Reads what there is.
    mutating func read() throws(StoreError) -> StoredSlices {
        for index in parts.indices { try fill(index) }
        // Rows that were deleted lie behind the reader's place: it is told by the first slice.
        for case .row(let row) in merge.heads { merge.previous = max(merge.previous, row.previous) }
        var found = StoredSlices(slices: [], through: merge.position)
        var taking = 0
        while taking < bytes, let taken = merge.take() {
            found.slices.append(taken.slice)
            taking += taken.slice.byteCount
            if taken.endsRow { try fill(taken.index) }
        }
        found.through = max(merge.position, merge.watermark)
        return found
    }

    /// Tells the merge what the partition at `index` has behind its position.
    private mutating func fill(_ index: Int) throws(StoreError) {
        if parts[index].rows.isEmpty && !parts[index].isComplete { try readOn(index) }
        merge.set(index, parts[index].rows.popLast().map { .row($0) } ?? .none(through: parts[index].readThrough))
    }

    /// Reads the next rows of the partition at `index`: from the store, then those in memory that are not on disk yet.
    private mutating func readOn(_ index: Int) throws(StoreError) {
        let (end, portion) = (end, portion)
        let begun = parts[index].readThrough
        var rows: [LogRow] = []
        var bytes = 0
        var endsStore = true
        if begun < end, let portion = try nextPortion(index) {
            rows = portion.rows
            endsStore = portion.endsLog
            if let place = rows.firstIndex(where: { $0.last >= end }) { rows.removeSubrange((place + 1)...) }
        } else if begun < end {
            try parts[index].reader.read(from: begun + 1) { row in
                rows.append(row)
                bytes += row.data.count
                endsStore = row.last < end && bytes < portion
                return endsStore
            }
        }
        if parts[index].hasRead, let row = rows.first, row.previous > begun {
            // Rows were deleted between two reads of this run. It ends here, and the next one finds what is missing.
            parts[index].isComplete = true
            return
        }
        parts[index].hasRead = true
        if let last = rows.last { parts[index].readThrough = last.last }
        if parts[index].readThrough >= end {
            parts[index].isComplete = true
        } else if endsStore {
            takeMemory(index, &rows)
        }
        parts[index].rows = rows.reversed()
    }

    /// The next rows of the partition at `index`, where the volume reads them.
    private mutating func nextPortion(_ index: Int) throws(StoreError) -> LogPortion? {
        if let known = parts[index].portion.take() { return known }
        let start = (partition: parts[index].source.number, position: parts[index].readThrough + 1)
        return try volume?.portions(from: [start], bytes: portion)?.first
    }

    /// Goes on behind the end of a store with the rows in memory.
    private mutating func takeMemory(_ index: Int, _ rows: inout [LogRow]) {
        var part = parts[index]
        part.isComplete = true
        // What had left memory was on disk before the store was read, or is deleted.
        part.readThrough = max(part.readThrough, part.floor)
        while part.readThrough < end, case let next = part.source.hub.row(after: part.readThrough), next != .gone {
            guard case .row(let row) = next else {
                part.readThrough = end
                break
            }
            rows.append(row)
            part.readThrough = row.last
        }
        parts[index] = part
    }
}
