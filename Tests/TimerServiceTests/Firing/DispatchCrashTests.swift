import Dispatch
import Glibc
import TestSupport
import Testing
import TimerCore

/// Misuses of a raw `DispatchSourceTimer` that end the process, each beside the same commands to a timer here: they
/// are refused and change nothing, or are safe steps.
///
/// That an alarm over such a source crashes in no state is shown in `AlarmTests`.
struct DispatchCrashTests {
    /// The signal of libdispatch's trap, an instruction that does not exist, which ends the process.
    private static var trap: ExitTest.Condition {
        #if arch(arm64)
            .signal(SIGTRAP)
        #else
            .signal(SIGILL)
        #endif
    }

    /// Applies commands to a new timer. Returns the state after each, or nil where it was refused.
    private func tell(_ commands: [TimerCommand], start: StartPolicy = .now) throws -> [TimerState?] {
        var scheduler = Scheduler(secret: [])
        var effects: [Effect] = []
        var rules = TimerRules(.every(1000, first: .period))
        rules.start = start
        var bytes = definition("a", rules)
        let now = Now(elapsed: 1_700_000_000_000_000_000, wallOffset: 0)
        let slot = try scheduler.create(key("a"), definition: &bytes, now, &effects)
        return commands.map { command in
            let before = scheduler.progress(slot)
            do throws(TimerRefusal) {
                try scheduler.apply(command, slot, now, if: .none, &effects)
                return scheduler.progress(slot).state
            } catch {
                #expect(error == .illegalTransition(command, state: before.state, restartable: false))
                #expect(scheduler.progress(slot) == before)
                return nil
            }
        }
    }

    /// Deletes a new timer after commands were applied to it. Returns how many timers are left.
    private func delete(after commands: [TimerCommand], start: StartPolicy = .now) throws -> Int {
        var scheduler = Scheduler(secret: [])
        var effects: [Effect] = []
        var rules = TimerRules(.every(1000, first: .period))
        rules.start = start
        var bytes = definition("a", rules)
        let now = Now(elapsed: 1_700_000_000_000_000_000, wallOffset: 0)
        let slot = try scheduler.create(key("a"), definition: &bytes, now, &effects)
        for command in commands { try scheduler.apply(command, slot, now, if: .none, &effects) }
        try scheduler.delete(slot, now, if: .none, &effects)
        scheduler.finishStep()
        return scheduler.count
    }

    @Test func `released before it was activated, a source crashes`() async {
        await #expect(processExitsWith: Self.trap) {
            var source: (any DispatchSourceTimer)? = DispatchSource.makeTimerSource()
            source?.schedule(deadline: .distantFuture)
            source = nil
        }
    }

    @Test func `deleted before it was activated, a timer goes`() throws {
        #expect(try delete(after: [], start: .manual) == 0)
    }

    @Test func `released while suspended, a source crashes`() async {
        await #expect(processExitsWith: Self.trap) {
            var source: (any DispatchSourceTimer)? = DispatchSource.makeTimerSource()
            source?.activate()
            source?.suspend()
            source = nil
        }
    }

    @Test func `deleted while suspended, a timer goes`() throws {
        #expect(try delete(after: [.suspend]) == 0)
    }

    @Test func `suspended twice and resumed once, a source crashes when it is released`() async {
        await #expect(processExitsWith: Self.trap) {
            var source: (any DispatchSourceTimer)? = DispatchSource.makeTimerSource()
            source?.activate()
            source?.suspend()
            source?.suspend()
            source?.resume()
            source = nil
        }
    }

    @Test func `a second suspend is refused, and one resume is enough`() throws {
        #expect(try tell([.suspend, .suspend, .resume]) == [.suspended, nil, .running])
    }

    @Test func `cancelled while suspended, a source crashes when it is released`() async {
        await #expect(processExitsWith: Self.trap) {
            var source: (any DispatchSourceTimer)? = DispatchSource.makeTimerSource()
            source?.activate()
            source?.suspend()
            source?.cancel()
            source = nil
        }
    }

    @Test func `cancelled while suspended, a timer is cancelled, and goes`() throws {
        #expect(try tell([.suspend, .cancel]) == [.suspended, .cancelled])
        #expect(try delete(after: [.suspend, .cancel]) == 0)
    }

    @Test func `resumed after a cancel, a source crashes`() async {
        await #expect(processExitsWith: Self.trap) {
            let source = DispatchSource.makeTimerSource()
            source.activate()
            source.cancel()
            source.resume()
        }
    }

    @Test func `a resume after a cancel is refused`() throws {
        #expect(try tell([.cancel, .resume, .cancel]) == [.cancelled, nil, nil])
    }

    @Test func `resumed more often than suspended, a source crashes`() async {
        await #expect(processExitsWith: Self.trap) {
            let source = DispatchSource.makeTimerSource()
            source.activate()
            source.suspend()
            source.resume()
            source.resume()
        }
    }

    @Test func `a resume of a running timer is refused`() throws {
        #expect(try tell([.suspend, .resume, .resume]) == [.suspended, .running, nil])
    }

    @Test func `a source that follows the rules ends well`() async {
        await #expect(processExitsWith: .success) {
            var source: (any DispatchSourceTimer)? = DispatchSource.makeTimerSource()
            source?.schedule(deadline: .now())
            source?.activate()
            source?.suspend()
            source?.resume()
            source?.cancel()
            source = nil
        }
    }
}
