import Testing

@testable import TimerAPI

struct ClientSilenceTests {
    private static let second: Int64 = 1_000_000_000

    @Test func `a client that takes nothing is cut after a minute, however much is written for it`() {
        var silence = ClientSilence(at: 0)
        for now in Int64(0)...60 {
            silence.look(buffered: Int(now) * 1000, at: now * Self.second)
            silence.wrote(buffered: (Int(now) + 1) * 1000)
            #expect(!silence.isTooLong(at: now * Self.second))
        }
        #expect(!silence.isTooLong(at: 60 * Self.second))
        #expect(silence.isTooLong(at: 60 * Self.second + 1))
    }

    @Test func `a client that takes a little now and then is not, though as much is written again`() {
        var silence = ClientSilence(at: 0)
        silence.wrote(buffered: 1000)
        for now in Int64(1)...10 {
            silence.look(buffered: 999, at: now * 50 * Self.second)
            silence.wrote(buffered: 1000)
            silence.look(buffered: 1000, at: now * 50 * Self.second + 1)
            #expect(!silence.isTooLong(at: (now * 50 + 49) * Self.second))
        }
        #expect(silence.isTooLong(at: 561 * Self.second))
    }

    @Test func `a client that has taken everything is never cut`() {
        var silence = ClientSilence(at: 0)
        silence.look(buffered: 0, at: 500 * Self.second)
        #expect(!silence.isTooLong(at: 500 * Self.second))
    }
}
