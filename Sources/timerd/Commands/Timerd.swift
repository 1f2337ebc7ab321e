import ArgumentParser
import Glibc

/// The program: finds the subcommand and says in one line what went wrong.
@main
struct Timerd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timerd",
        abstract: "A timer service: timers over HTTP that survive crashes, and streams of their fires.",
        discussion: """
            Start a server, and drive it from another terminal with these commands or with curl:

              timerd serve
              timerd create --id tea --after 4m
              timerd suspend tea
              timerd resume tea
              timerd watch tea

            Exit codes: 0 done, 1 it did not work out, 64 the command line or a variable makes no sense, \
            78 configuration or data that can't be used.
            """,
        version: "timerd \(Release.version)",
        groupedSubcommands: [
            CommandGroup(name: "Server", subcommands: [Serve.self, Health.self, Version.self]),
            CommandGroup(name: "Data", subcommands: [Log.self, Backup.self]),
            CommandGroup(name: "Schedule", subcommands: [Preview.self]),
            CommandGroup(name: "Webhook", subcommands: [Deliveries.self, Redrive.self, Listen.self]),
            CommandGroup(
                name: "Timer",
                subcommands: [
                    Create.self, List.self, Get.self, VerbCommand<Activate>.self, VerbCommand<Suspend>.self,
                    VerbCommand<Resume>.self, VerbCommand<Cancel>.self, VerbCommand<Kick>.self, VerbCommand<Fire>.self,
                    Reschedule.self, Delete.self, Watch.self,
                ]),
        ])

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as Failure {
            Console.error("timerd: \(failure.line)")
            Glibc.exit(failure.code.rawValue)
        } catch {
            end(error)
        }
    }

    /// Ends with what the parser threw: help and the version on stdout, anything else as one line.
    private static func end(_ error: any Error) -> Never {
        let code = exitCode(for: error)
        if code.isSuccess {
            Console.out(fullMessage(for: error))
            Glibc.exit(code.rawValue)
        }
        let text = message(for: error).split(separator: "\n").joined(separator: " ")
        Console.error("timerd: \(text); --help tells more")
        Glibc.exit(code.rawValue)
    }
}
