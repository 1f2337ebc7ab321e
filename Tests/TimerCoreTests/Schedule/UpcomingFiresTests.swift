import Testing

@testable import TimerCore

struct UpcomingFiresTests {
    @Test func `a step finds a bounded number of fires`() throws {
        let bench = Bench()
        let leapDays = try CronSchedule(Array("0 0 29 2 *".utf8), zone: Array("UTC".utf8), from: nil)
        var fires = try bench.scheduler.preview(rules(.cron(leapDays)), bench.now, count: 1000)
        var found = 0
        while !fires.isDone {
            fires.step()
            #expect(fires.instants.count - found <= UpcomingFires.stepLimit)
            found = fires.instants.count
        }
        #expect(found == 1000)
        #expect(try bench.scheduler.preview(rules(.cron(leapDays)), bench.now, count: 1000).all() == fires.instants)
        #expect(fires.instants == fires.instants.sorted())
    }
}
