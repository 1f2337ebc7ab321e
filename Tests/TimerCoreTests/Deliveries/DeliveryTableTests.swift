import TestSupport
import Testing

@testable import TimerCore

struct DeliveryTableTests {
    @Test func `a slot is 32 bytes and keeps its parts apart`() {
        #expect(MemoryLayout<DeliverySlot>.stride == 32)
        var slot = DeliverySlot()
        let wall: Int64 = 1_795_000_000_123
        slot.setDue(wall)
        slot.count = 1001
        slot.attempts = 100
        slot.state = .waiting
        slot.isDetached = true
        slot.isCarried = true
        slot.isRedriven = true
        slot.reason = .age
        #expect(slot.lastAttempt == nil)
        let last = LastAttempt(at: wall, status: 999, failure: .malformed)
        slot.lastAttempt = last
        #expect(slot.lastAttempt == last)
        #expect(slot.due(near: wall) == wall)
        #expect((slot.count, slot.attempts, slot.state) == (1001, 100, .waiting))
        #expect(slot.isDetached && slot.isCarried && slot.isRedriven)
        #expect(slot.reason == .age)
        slot.count = 0
        slot.isCarried = false
        #expect((slot.attempts, slot.state, slot.due(near: wall)) == (100, .waiting, wall))
        #expect(slot.isDetached && !slot.isCarried && slot.isRedriven)
        for reason in [.attempts, .backlog, .status, .age] as [EventReason] {
            slot.reason = reason
            #expect(slot.reason == reason && slot.lastAttempt == last)
        }
        slot.lastAttempt = nil
        #expect(slot.reason == .age)
    }

    @Test(arguments: [-30, -1, 0, 1, 30] as [Int64])
    func `a due instant is found within thirty years of now`(_ years: Int64) {
        let now: Int64 = 1_795_000_000_000
        var slot = DeliverySlot()
        slot.setDue(now + years * 365 * 86_400_000)
        #expect(slot.due(near: now) == now + years * 365 * 86_400_000)
        slot.setDue(5)
        #expect(slot.due(near: 12) == 5)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `the index is a sorted list`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var slots = DeliverySlots()
        var index = DeliveryIndex()
        var model: [Int64: UInt32] = [:]
        for step in 0..<6000 {
            let grows = step < 3000
            if generator.chance(oneIn: grows ? 4 : 2), let id = model.keys.randomElement(using: &generator) {
                index.remove(id, slots)
                if let place = model.removeValue(forKey: id) { slots.release(place) }
            } else {
                // Mostly the newest delivery, as in a real run.
                let id =
                    generator.chance(oneIn: 3)
                    ? Int64.random(in: 1...100_000, using: &generator) : Int64(100_000 + step)
                if model[id] == nil {
                    let place = slots.take(id)
                    index.insert(place, slots)
                    model[id] = place
                }
            }
        }
        let sorted = model.keys.sorted()
        #expect(index.count == model.count)
        #expect(index.first == sorted.first.flatMap { model[$0] })
        for id in sorted + [0] {
            let place = index.find(id, slots)
            #expect(place == model[id])
        }
        for after in [Int64.min, 0, sorted[sorted.count / 2], sorted[0], .max] {
            var walked: [Int64] = []
            index.walk(after: after, slots) { place in
                walked.append(slots[place].id)
                return true
            }
            #expect(walked == sorted.filter { $0 > after })
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a ring keeps the order of ids, whatever leaves and comes back`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var table = DeliveryTable()
        var tail: UInt32 = 0
        var pending: [Int64] = []
        var dead: [Int64] = []
        for step in 0..<2000 {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1, 2:
                guard pending.count < DeliveryTable.mostPerTimer else { continue }
                table.append(Int64(step), owner: 0, tail: &tail)
                pending.append(Int64(step))
            case 3:
                guard let id = pending.randomElement(using: &generator) else { continue }
                guard let place = table.find(id) else { throw Lost(id: id) }
                table.remove(place, tail: &tail)
                pending.removeAll { $0 == id }
            case 4:
                guard let id = pending.randomElement(using: &generator) else { continue }
                guard let place = table.find(id) else { throw Lost(id: id) }
                table.moveToDead(place, tail: &tail, DeliveryLives.Key(hash: 7, createdAt: 1), .attempts, due: 5)
                pending.removeAll { $0 == id }
                dead.append(id)
            default:
                guard let id = dead.randomElement(using: &generator) else { continue }
                guard let place = table.find(id) else { throw Lost(id: id) }
                table.moveToPending(place, owner: 0, tail: &tail, at: 9)
                dead.removeAll { $0 == id }
                pending.append(id)
                pending.sort()
            }
            let (ring, count) = (ring(table, tail), table.count(tail: tail))
            let counts = [table.pending.count, table.dead.count]
            #expect(ring == pending)
            #expect(count == pending.count)
            #expect(counts == [pending.count, dead.count])
        }
        table.removeAll(tail: &tail)
        let left = table.pending.count
        #expect(tail == 0 && left == 0)
    }

    private struct Lost: Error { var id: Int64 }

    private func ring(_ table: borrowing DeliveryTable, _ tail: UInt32) -> [Int64] {
        guard tail != 0 else { return [] }
        var ids: [Int64] = []
        var place = tail
        repeat {
            place = table.slots[place].next
            ids.append(table.slots[place].id)
        } while place != tail
        return ids
    }
}
