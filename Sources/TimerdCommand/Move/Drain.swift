import ArgumentParser

/// `timerd drain`.
struct Drain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop a server's fires, webhooks and changes, until `timerd undrain`.",
        discussion: """
            Returns once the webhooks that were under way have ended. Reads and event streams go on. The server stays drained \
            over a restart. What comes due meanwhile fires after `timerd undrain`, each timer by its misfire policy; watchdogs \
            and other suspending timers stand.

              timerd drain
              timerd undrain
            """)

    @OptionGroup var client: ClientOptions

    func run() throws {
        let drained = try ServerDrain(try client.client()).begin()
        try client.print(drained) { _ in "drained" }
    }
}
