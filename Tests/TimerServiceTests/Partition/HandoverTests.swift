import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Two services, each with its threads, on one volume of four partitions, which the first one owns.
private final class Neighbours: Sendable {
    let volume: MemoryLogVolume
    let directory: MemoryDirectory
    let first: TimerService
    let second: TimerService
    private let time = ManualTime()

    init() throws {
        volume = MemoryLogVolume(try #require(PartitionLayout(strided: 4)))
        directory = MemoryDirectory(volume)
        for session in [Int64(1), 2] { try directory.join(ClusterNode(session: session, url: "", reads: 1, speaks: 1)) }
        for number in 0..<4 {
            _ = try directory.take(TakeOrder(partition: number, epoch: 0, from: 0, session: 1, clock: 0))
        }
        first = try Self.service(volume.seen(by: 1), Array(0..<4), time)
        second = try Self.service(volume.seen(by: 2), [], time)
    }

    private static func service(
        _ volume: MemoryLogVolume, _ owning: [Int], _ time: ManualTime
    ) throws -> TimerService {
        let service = try TimerService(
            volume: volume, owning: owning, configuration: EngineConfiguration(), alarm: ManualAlarm(time),
            timeSource: time, report: { _ in })
        service.start()
        return service
    }

    func partition(_ number: Int) throws -> Partition { try #require(first.partitions.value[number]) }

    /// Makes timers in a partition, a row each. Returns their ids.
    @discardableResult
    func create(_ stems: [String], in number: Int) throws -> [String] {
        let partition = try partition(number)
        return try stems.map { stem in
            let id = first.partitions.value.id(stem, in: number)
            let position = try partition.create(id)
            try eventually("\(id) is durable") { partition.engine.fate(of: position) == .durable }
            return id
        }
    }

    /// The second service gets a partition that the first one has released.
    func give(_ number: Int, _ clock: Int64) throws -> Partition {
        let owner = volume.owners[number]
        let order = TakeOrder(partition: number, epoch: owner.epoch, from: 1, session: 2, clock: clock)
        guard case .taken(let barrier) = try directory.give(order) else {
            throw TimedOut(description: "the partition is not given")
        }
        #expect(barrier.position > clock)
        return try #require(try second.adopt(number))
    }

    func stop() {
        first.stop()
        second.stop()
    }
}

/// A partition goes from one service to another.
struct HandoverTests {
    @Test func `what was prepared, and what came since, is what the next owner serves`() throws {
        let both = try Neighbours()
        let early = try both.create((0..<20).map { "early\($0)" }, in: 1)
        #expect(try both.second.prepare(1) == 21, "a row each, and the beginning of the epoch")
        #expect(try both.second.prepare(1) == 0)
        let late = try both.create(["a", "b", "c"], in: 1)
        #expect(try both.second.prepare(1) == 3)
        let last = try both.create(["z"], in: 1)
        let clock = try #require(both.first.handOver(1))
        let adopted = try both.give(1, clock)
        for id in early + late + last { #expect(adopted.has(id)) }
        #expect(adopted.trim.bytes == (try bytes(of: both.volume.store(1))))
        #expect(both.second.followed.take(1) == nil)
        let position = try adopted.create(both.first.partitions.value.id("new", in: 1))
        #expect(position > clock)
        both.stop()
    }

    private func bytes(of store: any LogStore) throws -> RowBytes {
        var bytes = RowBytes()
        try store.makeFollower().read(from: 0) { row in
            bytes.add(row)
            return true
        }
        return bytes
    }

    @Test func `a released partition promises and changes nothing more`() throws {
        let both = try Neighbours()
        let id = try both.create(["kept"], in: 2)[0]
        let partition = try both.partition(2)
        let lead = PositionClock.perSecond / 2
        let promised = partition.engine.promise(through: partition.engine.clockPosition + lead)
        let mark = partition.engine.turn { $0.watermark(atMost: promised + lead / 2) }
        #expect(!both.first.isInHandover(2))
        let clock = try #require(both.first.handOver(2))
        #expect(clock >= promised && clock >= mark && mark > promised)
        #expect(both.first.isInHandover(2) && both.first.partitions.value[2] == nil)
        let far = clock + PositionClock.perSecond
        #expect(partition.engine.promise(through: far) <= clock)
        #expect(partition.engine.turn { $0.watermark(atMost: far) } <= clock)
        #expect(partition.engine.promise(through: promised) == promised, "what was promised stands")
        #expect(throws: ServiceError.shuttingDown) { try partition.create("late") }
        #expect(try both.give(2, clock).has(id))
        both.first.drop([2])
        #expect(!both.first.isInHandover(2))
        both.stop()
    }

    @Test func `a partition that was not given after all comes back`() throws {
        let both = try Neighbours()
        let id = try both.create(["kept"], in: 3)[0]
        let clock = try #require(both.first.handOver(3))
        let owner = both.volume.owners[3]
        _ = try both.directory.take(TakeOrder(partition: 3, epoch: owner.epoch, from: 1, session: 1, clock: clock))
        let again = try #require(try both.first.adopt(3))
        #expect(again.has(id) && !both.first.isInHandover(3))
        try both.create(["more"], in: 3)
        #expect(both.first.handOver(9) == nil)
        both.stop()
    }

    @Test func `a partition that is dropped while it is released holds nobody up`() throws {
        let volume = ContestedVolume(try #require(PartitionLayout(strided: 4)))
        let time = ManualTime()
        let service = try TimerService(
            volume: volume, configuration: EngineConfiguration(), alarm: ManualAlarm(time), timeSource: time,
            report: { _ in })
        service.start()
        let partition = try #require(service.partitions.value[1])
        volume.shut()
        try partition.create(service.partitions.value.id("stuck", in: 1))
        try eventually("the append is under way") { volume.isHolding }
        let release = Background { _ = service.handOver(1) }
        try eventually("it is being released") { partition.isLeaving }
        service.drop([1])
        try release.finish("the release ends")
        volume.shut(false)
        service.stop()
    }
}
