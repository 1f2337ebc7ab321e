import ArgumentParser

/// `timerd undrain`.
struct Undrain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have a drained server go on.",
        discussion: """
            What came due meanwhile fires now, each timer by its misfire policy. Don't undrain a server whose timers were moved: \
            they would fire on both.

              timerd undrain
            """)

    @OptionGroup var client: ClientOptions

    func run() throws {
        let answer = try ServerDrain(try client.client()).end()
        try client.print(answer) { _ in "not drained" }
    }
}
