import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

struct BatchRunTests {
    /// A clock that goes on by as much with each look.
    private final class Ticking {
        private(set) var looks: Int64 = 0
        private let step: Int64

        init(step: Int64) { self.step = step }

        func now() -> Int64 {
            looks += 1
            return looks * step
        }
    }

    /// The number of lines of 1,000 that are read at once.
    private func read(_ clock: Ticking) throws -> Int {
        var ids = 0
        let run = try BatchRun(
            Array(String(repeating: #"{"after":"1h"}"# + "\n", count: 1000).utf8), .lines, isBrief: true,
            keepsParts: false,
            siphash: SipHash(secret: []), zones: UTCOnly(), clock: clock.now)
        run.prepare(
            {
                ids += 1
                return Array("t\(ids)".utf8)
            }, requestID: [])
        return ids
    }

    @Test func `lines that take long to read are few at once`() throws {
        #expect(try read(Ticking(step: 0)) == APILimits.appliedPerStep)
        let slow = try read(Ticking(step: APILimits.readingPerStep))
        #expect(slow > 0 && slow < 8)
    }
}
