import TimerLog

/// Reads the newest rows of several partitions, merged.
struct MergedReading {
    private let sources: [any EventSource]
    private var merge: SliceMerge
    /// Whether rows of some partition left memory before they were read.
    private var isBehind = false

    /// Begins behind `position`.
    init(_ sources: [any EventSource], _ layout: PartitionLayout, after position: Int64) {
        self.sources = sources
        merge = SliceMerge(layout, numbers: sources.map(\.number), after: position)
        for index in sources.indices { look(index) }
    }

    /// What comes next.
    mutating func next() -> EventFeed.Next {
        if sources.isEmpty { return .none(newest: merge.position) }
        if !isBehind { askForPromises() }
        if isBehind {
            // While the other partitions are waited for, what is gone is not missed yet.
            let newest = EventFeed.newest(of: sources)
            let head = sources.reduce(newest) { min($0, $1.known(through: newest)) }
            return head > merge.position ? .gone : .none(newest: head)
        }
        guard let taken = merge.take() else { return .none(newest: merge.watermark) }
        if taken.endsRow { look(taken.index) }
        return .slice(taken.slice)
    }

    /// Notes what the partition at `index` has behind the merge's position.
    ///
    /// - Parameter promised: position up to which the partition has promised that no record comes, before this look.
    private mutating func look(_ index: Int, promised: Int64 = 0) {
        switch sources[index].hub.row(after: merge.position) {
        case .row(let row): merge.set(index, .row(row))
        case .none(let newest): merge.set(index, .none(through: max(newest, promised)))
        case .gone: isBehind = true
        }
    }

    /// Has the partitions without rows promise that nothing comes before the end of the next row; where there is none,
    /// before the newest position of any.
    private mutating func askForPromises() {
        let goal = merge.nextRow?.last ?? EventFeed.newest(of: sources)
        for index in sources.indices {
            guard case .none(let through) = merge.heads[index], through < goal else { continue }
            look(index, promised: sources[index].promise(through: goal))
        }
    }
}
