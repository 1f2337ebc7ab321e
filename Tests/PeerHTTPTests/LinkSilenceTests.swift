import Testing

@testable import PeerHTTP

struct LinkSilenceTests {
    private static let second: Int64 = 1_000_000_000

    /// The verdict on a link that last received a byte at second 1, and was first asked something at `began`.
    private func verdict(began: Double, now: Double) -> LinkSilence.Verdict {
        var silence = LinkSilence()
        silence.began(at: Int64(began * 1e9))
        return silence.verdict(at: Int64(now * 1e9), lastReceivedAt: Self.second)
    }

    @Test func `silence counts from the request, however long nothing was asked before`() {
        #expect(verdict(began: 61, now: 61) == .usual)
        #expect(verdict(began: 61, now: 62) == .usual)
        #expect(verdict(began: 61, now: 62.1) == .askForSign)
    }

    @Test func `a process that stood still asks before it gives up`() {
        #expect(verdict(began: 61, now: 70) == .askForSign)
        var silence = LinkSilence()
        silence.began(at: Self.second)
        #expect(silence.verdict(at: 61 * Self.second, lastReceivedAt: Self.second) == .askForSign)
        #expect(silence.verdict(at: 64 * Self.second, lastReceivedAt: Self.second) == .usual)
        #expect(silence.verdict(at: 64 * Self.second + 1, lastReceivedAt: Self.second) == .tooLong)
        #expect(silence.verdict(at: 64 * Self.second + 1, lastReceivedAt: 63 * Self.second + 1) == .usual)
    }

    @Test func `silence counts from the last byte once there is one`() {
        var silence = LinkSilence()
        silence.began(at: 0)
        #expect(silence.verdict(at: 5 * Self.second, lastReceivedAt: 4 * Self.second) == .usual)
        #expect(silence.verdict(at: 6 * Self.second, lastReceivedAt: 4 * Self.second) == .askForSign)
        #expect(silence.verdict(at: 7 * Self.second, lastReceivedAt: 4 * Self.second) == .usual)
        #expect(silence.verdict(at: 9 * Self.second + 1, lastReceivedAt: 4 * Self.second) == .tooLong)
    }

    @Test func `a byte after the ping begins another silence`() {
        var silence = LinkSilence()
        silence.began(at: Self.second)
        #expect(silence.verdict(at: 3 * Self.second, lastReceivedAt: Self.second) == .askForSign)
        #expect(silence.verdict(at: 5 * Self.second, lastReceivedAt: 4 * Self.second) == .usual)
        #expect(silence.verdict(at: 6 * Self.second, lastReceivedAt: 4 * Self.second) == .askForSign)
    }
}
