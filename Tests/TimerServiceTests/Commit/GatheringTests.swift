import TestSupport
import Testing
import TimerCore

@testable import TimerService

struct GatheringTests {
    private var gathering = Gathering()

    @Test func `the first batch waits for no client`() { #expect(gathering.expected == 0) }

    @Test mutating func `as many requests as the last batch answered are waited for`() {
        gathering.took(7)
        #expect(gathering.expected == 7)
        gathering.took(1)
        #expect(gathering.expected == 1)
    }

    @Test(
        arguments: [
            (1_000_000, 500_000), (40_000, 20_000), (4_000_000, 2_000_000),
            // A stalled disk makes no client wait longer; with a fast one no client waits at all.
            (1_000_000_000, 2_000_000), (39_000, 0), (0, 0),
        ] as [(Int64, Int64)])
    mutating func `the wait is half of an append, within bounds`(_ append: Int64, _ wait: Int64) {
        gathering.appended(from: 1_000, to: 1_000 + append)
        #expect(gathering.deadline == 1_000 + append + wait)
    }

    @Test func `a batch counts the requests it is to answer, not what they changed, nor fires`() throws {
        let rig = try Rig(starts: false)
        // The second request is refused and the third changes nothing; the first and the last are to be answered.
        Self.request(rig, steps: [["a", "b"], ["c"]])
        Self.request(rig, steps: [["a"]])
        Self.request(rig, steps: [[]])
        Self.request(rig, steps: [["d"]])
        rig.time.pass(milliseconds: 2000)
        rig.fire()
        #expect(rig.progress("a")?.fireCount == 1)
        #expect(rig.locked { $0.batch.requests } == 2)
        rig.start()
        try rig.settle()
        #expect(rig.locked { $0.batch.requests } == 0)
        #expect(rig.bell.gatheredRequests == 0)
        rig.stop()
    }

    /// Requests timers in several steps; a timer that is there already is passed over.
    private static func request(_ rig: Rig, steps: [[String]]) {
        for (index, ids) in steps.enumerated() {
            _ = rig.engine.turn { turn in
                turn.step {
                    for id in ids {
                        var bytes = definition(id, TimerRules(.after(1000)))
                        _ = try? turn.create(rig.key(id), definition: &bytes)
                    }
                    return index == steps.count - 1
                }
            }
        }
    }
}
