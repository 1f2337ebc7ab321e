import TestSupport
import Testing
import TimerCore

@testable import TimerService

struct RestTests {
    @Test func `after many changes at once the newest rows go, and what comes then is shown as ever`() throws {
        let rig = try Rig(starts: false)
        rig.committer.quietTime = 1_000_000
        rig.start()
        let payload = [UInt8](repeating: UInt8(ascii: "1"), count: 200_000)
        // The last of them is the first with which memory is given back: on a slow machine some would come after that.
        for number in 0...MemoryRelease.leastBytes / payload.count {
            _ = try rig.create("t\(number)", TimerRules(.after(1000)), payload: payload)
        }
        try rig.settle()
        let head = rig.hub.head
        try eventually("all but a few rows are given back") { !rig.hub.holds(after: head - 20) }
        #expect(rig.hub.holds(after: head - 4))
        #expect(rig.locked { $0.batch.records.open.capacity } == 0)
        let position = try rig.create("next", TimerRules(.after(1000)))
        try rig.settle()
        #expect(rig.hub.row(holding: position) != nil)
        try rig.expectFoldIsLive()
        rig.stop()
    }
}
