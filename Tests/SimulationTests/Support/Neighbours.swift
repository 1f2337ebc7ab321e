import TestSupport
import TimerLog

@testable import TimerCore
@testable import TimerService

/// The further partitions of a volume, with clients, fires and failing disks of their own. Nothing of theirs may concern the
/// partition that the model follows, and each keeps what it answered.
final class Neighbours {
    private struct Created {
        var id: String
        var number: Int
        var position: Int64
    }

    let layout: PartitionLayout
    private let stores: [Int: SimulatedStore]
    private var random: SeededGenerator
    private var created = 0
    /// Creations that wait for the disk, and those that were answered.
    private var waiting: [Created] = []
    private var answered: [Created] = []

    /// Timers of all neighbours.
    private static let mostTimers = 40

    /// - Parameter number: of the partition that they are neighbours of.
    init(of number: Int, in layout: PartitionLayout, seed: UInt64) {
        self.layout = layout
        random = SeededGenerator(seed: seed)
        let numbers = (0..<layout.count).filter { $0 != number }
        stores = Dictionary(uniqueKeysWithValues: numbers.map { ($0, SimulatedStore()) })
        for store in stores.values { store.onAppend = { [unowned self] _ in fate() } }
    }

    func store(_ number: Int) -> SimulatedStore? { stores[number] }

    private func fate() -> AppendFate {
        let error = StoreError(.io, "a neighbour's disk failed")
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return AppendFate(lands: false, outcome: .absent(error))
        case 1: return AppendFate(lands: random.chance(oneIn: 2), outcome: .unknown(error))
        default: return AppendFate()
        }
    }

    /// A client of one of them creates a timer, or changes one.
    func act(_ server: Server) {
        guard let number = stores.keys.sorted().randomElement(using: &random), let partition = server.partitions[number]
        else { return }
        let engine = partition.engine
        if created < Self.mostTimers, random.chance(oneIn: 3) {
            created += 1
            let id = layout.id("n\(created)", in: number, secret: SimulatedStore.secret)
            let period = Int64.random(in: 5_000...100_000, using: &random)
            var bytes = definition(id, TimerRules(.every(period, first: .period)))
            let key = key(id, secret: SimulatedStore.secret)
            engine.turn { turn in
                // Refused while its storage fails.
                guard (try? turn.create(key, definition: &bytes)) != nil else { return }
                waiting.append(Created(id: id, number: number, position: turn.head))
            }
        } else if let timer = answered.randomElement(using: &random), timer.number == number {
            let command: TimerCommand = [.suspend, .resume, .fire].randomElement(using: &random) ?? .fire
            let key = key(timer.id, secret: SimulatedStore.secret)
            engine.turn { turn in _ = try? turn.apply(command, key, target: nil, if: .none) }
        }
    }

    /// Answers what is on disk, and looks whether all that was answered is there.
    func check(_ server: Server) throws(BrokenPromise) {
        var still: [Created] = []
        for timer in waiting {
            switch server.partitions[timer.number]?.engine.fate(of: timer.position) {
            case .durable: answered.append(timer)
            case .lost, .unknown: break
            case .pending, nil: still.append(timer)
            }
        }
        waiting = still
        for timer in answered {
            let key = key(timer.id, secret: SimulatedStore.secret)
            let isThere = server.partitions[timer.number]?.engine.turn { $0.find(key) != nil } ?? false
            try promise(isThere, "the neighbour \(timer.number) lost \(timer.id)")
        }
    }

    /// The process ends.
    func kill() {
        for store in stores.values { store.kill() }
        waiting = []
    }
}
