import Testing

@testable import TimerdCommand

struct EachIDTests {
    /// Runs a command for ids of which those in `failures` fail. Returns the tried ones, the errors printed, and the
    /// failure of the whole.
    private func run(_ ids: [String], _ failures: [String: Failure]) -> (tried: [String], said: String, end: Failure?) {
        var tried: [String] = []
        var end: Failure?
        let record = ConsoleCapture()
        Console.$record.withValue(record) {
            do throws(Failure) {
                try EachID.run(ids) { (id) throws(Failure) in
                    tried.append(id)
                    if let failure = failures[id] { throw failure }
                }
            } catch {
                end = error
            }
        }
        return (tried, record.errors, end)
    }

    @Test func `every id is tried, and each that fails has its line`() {
        let result = run(["a", "b", "c", "d"], ["b": Failure(.other, "no b"), "d": Failure(.usage, "no d")])
        #expect(result.tried == ["a", "b", "c", "d"])
        #expect(result.said == "timerd: b: no b\ntimerd: d: no d\n")
        #expect(result.end?.line == "2 of 4 failed")
        #expect(result.end?.code == .other)
    }

    @Test func `the failure of an only id is its own`() {
        let result = run(["a"], ["a": Failure(.usage, "no a")])
        #expect(result.said == "")
        #expect(result.end?.line == "no a")
        #expect(run(["a", "b"], [:]).end == nil)
    }

    @Test func `where there is no server the rest is not tried`() {
        var failure = Failure(.other, "no server")
        failure.isUnreachable = true
        let result = run(["a", "b", "c"], ["a": failure])
        #expect(result.tried == ["a"])
        #expect(result.said == "timerd: a: no server\n")
        #expect(result.end?.line == "2 of 3 not tried")
        #expect(run(["a", "b"], ["b": failure]).end?.line == "1 of 2 failed")
    }

    @Test func `a real command does so`() {
        let run = CommandRun("cancel", "a", "b", "c", "--server", "http://127.0.0.1:1")
        let lines = run.errors.split(separator: "\n")
        #expect(run.code == 1 && lines.count == 2)
        #expect(lines.first?.hasPrefix("timerd: a: ") == true)
        #expect(lines.last == "timerd: 2 of 3 not tried")
    }
}
