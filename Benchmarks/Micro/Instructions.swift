import Glibc

/// Runs one benchmark for so many operations, under a tool that counts instructions: `instructions NAME COUNT`.
///
/// Without arguments the program prints the benchmarks, each with the two counts that it is to be run with. Set-up
/// does not depend on the count, so the two runs differ by the operations' own instructions. Nothing here reads a
/// clock, and nothing is random.
@main
enum Instructions {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.isEmpty {
            for benchmark in Benchmark.all { print(benchmark.name, Benchmark.few, Benchmark.many) }
            return
        }
        guard arguments.count == 2, let benchmark = Benchmark.all.first(where: { $0.name == arguments.first }),
            let count = arguments.last.flatMap({ Int($0) }), (1...Benchmark.many).contains(count)
        else {
            print("usage: instructions [NAME COUNT], a count of 1 to \(Benchmark.many)")
            exit(64)
        }
        // The result is printed so that no work is left out as having none.
        print(benchmark.run(count))
    }
}

/// Operations of one kind, after a set-up that is the same however many they are.
struct Benchmark: Sendable {
    /// The count of the shorter run.
    static let few = 1_024
    /// The count of the longer run; set-up provides for so many.
    static let many = 5_120
    /// The number of further timers, where it matters.
    static let crowd = 100_000

    /// The name of the operation, after that of its module.
    let name: String
    /// The function that sets up, does so many operations, and returns something of each.
    let run: @Sendable (Int) -> Int

    init(_ name: String, _ run: @escaping @Sendable (Int) -> Int) {
        self.name = name
        self.run = run
    }

    static let all = core + cron + log + json + webhooks + api
}

/// Ends the run: a benchmark whose operation fails measures nothing.
func require(_ condition: Bool, _ what: @autoclosure () -> String) {
    guard condition else {
        print("instructions: \(what())")
        exit(1)
    }
}
