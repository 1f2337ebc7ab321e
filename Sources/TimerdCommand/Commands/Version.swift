import ArgumentParser

/// `timerd version`.
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the version.")

    func run() { Console.out("timerd \(Release.version)") }
}
