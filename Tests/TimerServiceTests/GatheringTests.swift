import Testing
import TimerCore

@testable import TimerService

struct GatheringTests {
    private var gathering = Gathering()

    @Test func `nobody is waited for at first`() { #expect(gathering.expected == 0) }

    @Test mutating func `as many changes as the last batch had are waited for`() {
        gathering.took(7)
        #expect(gathering.expected == 7)
        gathering.took(1)
        #expect(gathering.expected == 1)
    }

    @Test(
        arguments: [
            (1_000_000, 500_000), (40_000, 20_000), (4_000_000, 2_000_000),
            // A disk that stands still makes nobody wait longer; one that is fast enough nobody at all.
            (1_000_000_000, 2_000_000), (39_000, 0), (0, 0),
        ] as [(Int64, Int64)])
    mutating func `the wait is half of an append, within bounds`(_ append: Int64, _ wait: Int64) {
        gathering.appended(from: 1_000, to: 1_000 + append)
        #expect(gathering.deadline == 1_000 + append + wait)
    }

    @Test func `a batch counts what clients changed, and neither fires nor what was refused`() throws {
        let rig = try Rig(starts: false)
        try rig.create("a")
        try rig.create("b", TimerRules(.after(1)))
        #expect(throws: ServiceError.self) { try rig.create("a") }
        rig.time.pass(milliseconds: 10)
        rig.fire()
        #expect(rig.progress("b")?.fireCount == 1)
        #expect(rig.locked { $0.gathered } == 2)
        rig.start()
        try rig.settle()
        #expect(rig.locked { $0.gathered == 0 && $0.awaited == 0 })
        rig.stop()
    }
}
