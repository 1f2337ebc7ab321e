import Logging
import Platform
import TestSupport
import Testing
import TimerService

@testable import TimerdCommand

/// Keeps the names of the loops in the lines that are logged.
private struct Lines: LogHandler {
    let loops = Guarded<[String]>([])
    /// A closure that is called with each name, before it is kept.
    let hook = Guarded<(@Sendable (String) -> Void)?>(nil)
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let loop = event.metadata?["loop"].map { "\($0)" } ?? ""
        hook.withLock { $0 }?(loop)
        loops.withLock { $0.append(loop) }
    }
}

struct OperatorLogTests {
    private let lines = Lines()
    private let log: OperatorLog

    init() {
        let lines = lines
        log = OperatorLog(Logger(label: "test") { _ in lines })
    }

    private func report(_ loop: String) { log.report(.loopStalled(name: loop, seconds: 1)) }

    private var loops: [String] { lines.loops.withLock { $0 } }

    @Test func `events are held until the server is up`() {
        report("a")
        report("b")
        #expect(loops == [])
        log.open()
        #expect(loops == ["a", "b"])
        report("c")
        #expect(loops == ["a", "b", "c"])
    }

    @Test func `an event that comes while held ones are written is written after them`() {
        report("a")
        report("b")
        let log = log
        lines.hook.withLock { hook in
            hook = { loop in if loop == "a" { log.report(.loopStalled(name: "c", seconds: 1)) } }
        }
        defer { lines.hook.withLock { $0 = nil } }
        log.open()
        #expect(loops == ["a", "b", "c"])
    }

    @Test func `a start with too many events to hold writes them`() {
        let names = (0..<OperatorLog.heldEvents + 2).map { "\($0)" }
        for name in names.prefix(OperatorLog.heldEvents) { report(name) }
        #expect(loops == [])
        for name in names.dropFirst(OperatorLog.heldEvents) { report(name) }
        #expect(loops == names)
        log.open()
        #expect(loops == names)
    }
}
