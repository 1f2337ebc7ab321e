import ArgumentParser

/// `timerd deliveries …`.
struct Deliveries: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what is on its way to webhooks and what was given up; redrive or drop dead letters.",
        discussion: """
            Without a subcommand it lists; `timerd deliveries list --help` has the flags.

              timerd deliveries
              timerd deliveries --state dead
              timerd deliveries redrive --timer tea
              timerd deliveries drop 1927624203398283269
            """,
        subcommands: [DeliveryList.self, Redrive.self, DeliveryDrop.self], defaultSubcommand: DeliveryList.self)
}
