import TimerCore
import TimerLog

extension Operation {
    /// The number of the partition under whose lock the next step is taken.
    func partition(_ layout: PartitionLayout) -> Int {
        if layout.count == 1 { return 0 }
        switch self {
        case .none, .preview, .upcoming: return 0
        case .fail(_, let key): return key.map { layout.partition(ofHash: $0.hash) } ?? 0
        case .create(let key, _), .put(let key, _, _, _), .readForPut(let key, _, _), .replace(let key, _, _, _, _),
            .readForPatch(let key, _), .amend(let key, _, _, _), .command(_, let key, _, _), .delete(let key, _),
            .get(let key), .next(let key, _):
            return layout.partition(ofHash: key.hash)
        case .list(let run): return run.partition
        case .batch(let run): return run.partition
        case .bulk(let run): return run.partition
        case .drain(let run): return run.partition
        case .importPart(let run): return run.partition
        case .importState(let run): return run.partition
        case .deliveries(let operation): return operation.partition(layout)
        case .stream(let plan), .subscribe(let plan):
            return plan.filter.timer.map { layout.partition(ofHash: $0.hash) } ?? plan.partition
        }
    }
}

extension DeliveryOperation {
    fileprivate func partition(_ layout: PartitionLayout) -> Int {
        switch self {
        case .one(let run): layout.partition(of: run.id)
        case .fail(_, let id): layout.partition(of: id)
        case .list(let run): run.partition
        case .redrive(let run): run.partition
        }
    }
}

extension PartitionLayout {
    /// The partition that tells of a delivery: its own, or any where there is no partition that could have it.
    fileprivate func partition(of delivery: EventID) -> Int {
        let number = partition(ofPosition: delivery.position)
        return number < count ? number : 0
    }
}
