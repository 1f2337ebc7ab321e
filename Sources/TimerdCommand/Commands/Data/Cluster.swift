import ArgumentParser
import Platform
import PostgresLog
import TimerLog

/// `timerd cluster accept-loss`.
struct ClusterAcceptLoss: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-loss",
        abstract: "Let servers go on whose database has lost what they had answered.",
        discussion: """
            A fail-over of PostgreSQL to a standby that was behind loses the newest changes. The server that had shown \
            them notices, names the positions in its log, answers reads, and changes, fires and delivers nothing: \
            bring the old primary back if you can. This gives what is lost up; ids and \
            versions that were given are not given again.

              timerd cluster accept-loss --store postgres://timerd@db.example/timers
            """)

    @OptionGroup var options: DatabaseOptions

    func run() throws {
        let address = try options.address(options.settings())
        let mark = KernelRandom.words(2).map { String($0, radix: 16) }.joined()
        do throws(StoreError) {
            try LossAcceptance.accept(address, mark: Array(mark.utf8))
        } catch {
            throw Failure(error, directory: "--store")
        }
        Console.out("accepted; servers that wait for it go on within a second")
    }
}
