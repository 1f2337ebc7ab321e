import Platform
import Testing

@testable import TimerAPI

struct RefusedHostsTests {
    private let reported = Guarded<[String]>([])

    private func hosts() -> RefusedHosts {
        let reported = reported
        return RefusedHosts { name in reported.withLock { $0.append(name) } }
    }

    @Test func `a name is reported once a minute`() {
        let hosts = hosts()
        let pause = RefusedHosts.pause
        for now in [0, 1, pause - 1, pause, pause + 1] { hosts.note("a", now: now) }
        #expect(reported.withLock { $0 } == ["a", "a"])
    }

    @Test func `a minute has a bounded number of names`() {
        let hosts = hosts()
        for number in 0..<1000 { hosts.note("\(number)", now: Int64(number)) }
        #expect(reported.withLock { $0 } == (0..<RefusedHosts.mostNames).map { "\($0)" })
        hosts.note("later", now: RefusedHosts.pause + 1000)
        #expect(reported.withLock { $0.last } == "later")
    }
}
