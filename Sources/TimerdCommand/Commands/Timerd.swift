import ArgumentParser
import Glibc
import Platform

/// The program, from its arguments to its exit code.
public enum Program {
    /// Runs the command that the process's arguments name, and ends the process with its exit code.
    public static func run() -> Never { Timerd.end() }
}

/// The root of all commands: finds the subcommand and says in one line what went wrong.
struct Timerd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timerd",
        abstract: "A timer service: timers over HTTP that survive crashes, and streams of their fires.",
        discussion: """
            Start a server, and drive it from another terminal with these commands or with curl:

              timerd serve
              timerd create tea --after 4m
              timerd suspend tea
              timerd resume tea
              timerd watch tea

            Exit codes:

            \(ExitCodes.text)
            """,
        version: "timerd \(Release.version)",
        groupedSubcommands: [
            CommandGroup(name: "Server", subcommands: [Serve.self, Health.self, Stats.self, Version.self]),
            CommandGroup(
                name: "Timer",
                subcommands: [
                    Create.self, List.self, Get.self, Next.self, Patch.self, Edit.self, VerbCommand<Activate>.self,
                    VerbCommand<Suspend>.self, VerbCommand<Resume>.self, VerbCommand<Cancel>.self,
                    VerbCommand<Kick>.self, VerbCommand<Fire>.self, Reschedule.self, Delete.self,
                ]),
            CommandGroup(name: "Many timers", subcommands: [Apply.self, Bulk.self, Batch.self]),
            CommandGroup(name: "Event", subcommands: [Watch.self, Events.self]),
            CommandGroup(name: "Webhook", subcommands: [Deliveries.self, Redrive.self, Listen.self]),
            CommandGroup(name: "Schedule", subcommands: [Preview.self]),
            CommandGroup(name: "Data", subcommands: [Log.self, Backup.self, Store.self, Cluster.self]),
            CommandGroup(name: "Move", subcommands: [Drain.self, Undrain.self, Export.self, Import.self]),
            CommandGroup(name: "Shell", subcommands: [Completion.self]),
        ])

    fileprivate static func end() -> Never {
        EndSignals.take()
        do {
            try CommandLineFault.check(CommandLine.arguments.dropFirst(), root: Timerd.self)
            var command = try parseAsRoot()
            var exitCode = ExitCode.success
            do { try command.run() } catch let code as ExitCode { exitCode = code }
            // What a server says about itself is not what it is for.
            if (command as? Serve)?.check ?? true { try Console.checkOutput() }
            Glibc.exit(exitCode.rawValue)
        } catch let failure as Failure {
            end(failure)
        } catch {
            end(error)
        }
    }

    private static func end(_ failure: Failure) -> Never {
        Console.error("timerd: \(failure.line)")
        Glibc.exit(failure.code.rawValue)
    }

    /// Ends with what the parser threw: help and the version on stdout, anything else as one line.
    private static func end(_ error: any Error) -> Never {
        let code = exitCode(for: error)
        if code.isSuccess {
            Console.out(fullMessage(for: error))
            do throws(Failure) { try Console.checkOutput() } catch { end(error) }
            Glibc.exit(code.rawValue)
        }
        let fault = CommandLineFault(CommandLine.arguments.dropFirst(), root: Timerd.self)
        let text = Printable.text(message(for: error).split(separator: "\n").joined(separator: " "))
        Console.error("timerd: \(fault.unknown ?? "\(text); `\(fault.path) --help` tells more")")
        Glibc.exit(code.rawValue)
    }
}
