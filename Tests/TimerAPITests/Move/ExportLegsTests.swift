import Testing
import TimerLog

@testable import TimerAPI

/// The requests that an export at several servers consists of, with eight partitions.
struct ExportLegsTests {
    private let layout: PartitionLayout
    private let even: PartitionScope
    private let odd: PartitionScope

    init() throws {
        layout = try #require(PartitionLayout(strided: 8))
        even = PartitionScope([0, 2, 4, 6], of: layout)
        odd = PartitionScope([1, 3, 5, 7], of: layout)
    }

    private func standing(_ scope: PartitionScope, drained: Bool = true, mark: Int64 = 9, stamp: UInt64 = 1)
        -> ExportStanding
    {
        ExportStanding(
            isDrained: drained, versionFloor: 5, mark: EventID(mark), at: 100,
            stamps: Dictionary(uniqueKeysWithValues: scope.numbers.map { ($0, stamp + UInt64($0)) }))
    }

    private func legs(drained: Bool) -> ExportLegs {
        var whole = standing(even, drained: drained)
        whole.join(standing(odd))
        return ExportLegs([(.itself, even), (.node(1), odd)], whole)
    }

    private func portions(_ legs: ExportLegs) -> [ExportPortion?] {
        var legs = legs
        var portions: [ExportPortion?] = []
        while let leg = legs.next() {
            #expect(leg.scope == (leg.owner == .itself ? even : odd))
            portions.append(leg.portion)
        }
        return portions
    }

    @Test func `each owner is asked for its lines, what has changed, and how its partitions stand`() {
        let changes = ExportPortion.changes(since: EventID(9))
        #expect(portions(legs(drained: true)) == [.timers, .timers, nil, nil])
        #expect(portions(legs(drained: false)) == [.timers, .timers, changes, changes, nil, nil])
    }

    @Test func `it is whole once all owners have told that nothing has changed`() {
        var legs = legs(drained: true)
        while legs.next() != nil { #expect(!legs.isWhole) }
        #expect(!legs.isWhole)
        legs.stand(standing(odd))
        #expect(!legs.isWhole)
        legs.stand(standing(even))
        #expect(legs.isWhole)
        legs.stand(standing(even, stamp: 2))
        #expect(!legs.isWhole)
    }

    @Test func `lines are counted, and one that is cut makes it no whole`() {
        var legs = legs(drained: true)
        let (first, second) = (Array("{}\n{".utf8), Array("}\n{}\n".utf8))
        legs.came(first.span)
        #expect(legs.lines == 1 && !legs.endedWhole())
        legs.came(second.span.extracting(first: 0))
        legs.came(second.span)
        #expect(legs.lines == 3 && legs.endedWhole())
    }

    @Test func `partitions stand together as each of them does`() {
        var sum = standing(even, drained: false, mark: 7)
        sum.join(standing(odd, mark: 3))
        #expect(!sum.isDrained && sum.mark == EventID(3) && sum.stamps.count == 8)
        sum = standing(even)
        sum.join(standing(odd))
        #expect(sum.isDrained)
    }

    @Test func `a standing is read as it was written`() {
        for scope in [even, odd, PartitionScope(layout)] {
            let written = standing(scope, drained: scope == even, stamp: .max - 9)
            #expect(ExportStanding(written.text(scope), of: scope) == written)
        }
        let text = standing(even).text(even)
        #expect(ExportStanding(text, of: PartitionScope(layout)) == nil)
        for wrong in ["", "[]", "{}", String(decoding: text, as: UTF8.self).replacing("versionFloor", with: "floor")] {
            #expect(ExportStanding(Array(wrong.utf8), of: even) == nil, "\(wrong)")
        }
    }

    @Test func `a portion is read as it was written`() {
        for portion in [ExportPortion.timers, .changes(since: EventID(123))] {
            #expect(portion.text.flatMap { ExportPortion($0) } == portion)
        }
        for wrong in ["", "whole", "timers ", "changes", "changes-", "changes-12", "changes--1"] {
            #expect(ExportPortion(Array(wrong.utf8)) == nil, "\(wrong)")
        }
        #expect(ExportPortion.whole.text == nil)
    }
}
