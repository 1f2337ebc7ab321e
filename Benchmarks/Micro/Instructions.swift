import Glibc

/// Runs one benchmark for so many operations, under a tool that counts instructions: `instructions NAME COUNT`.
///
/// Without arguments it prints the benchmarks, each with the two counts it is to be run with. Set-up does not depend on
/// the count, so what the two runs differ by is the operations' own. Nothing here reads a clock, and nothing is random.
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
        // Printed so that no work is left out as having no result.
        print(benchmark.run(count))
    }
}

/// Operations of one kind, after a set-up that is the same however many they are.
struct Benchmark: Sendable {
    /// The count of the shorter run.
    static let few = 1_024
    /// The count of the longer run; set-up provides for so many.
    static let many = 5_120
    /// Timers there are besides, where their number matters.
    static let crowd = 100_000

    /// What an operation is, after the module it is of.
    let name: String
    /// Sets up, does so many operations, and returns something of each.
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
