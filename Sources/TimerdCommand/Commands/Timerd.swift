import ArgumentParser
import Glibc
import Platform

/// The program, from its arguments to its exit code.
public enum Program {
    /// Runs the command that the process's arguments name, and ends the process with its exit code.
    public static func run() -> Never {
        EndSignals.take()
        Glibc.exit(Timerd.run(Array(CommandLine.arguments.dropFirst())))
    }
}

/// The root of all commands: finds the subcommand and reports in one line what went wrong.
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
            CommandGroup(name: "Access", subcommands: [Keys.self]),
            CommandGroup(name: "Schedule", subcommands: [Preview.self, Calendars.self]),
            CommandGroup(name: "Data", subcommands: [Log.self, Backup.self, Store.self, Cluster.self]),
            CommandGroup(name: "Move", subcommands: [Drain.self, Undrain.self, Export.self, Import.self]),
            CommandGroup(name: "Shell", subcommands: [Completion.self]),
        ])

    /// Runs the command that `arguments`, the words after the program's name, ask for.
    ///
    /// - Returns: the exit code. Where the command failed, the reason is on standard error.
    static func run(_ arguments: [String]) -> Int32 {
        do {
            try CommandLineFault.check(arguments, root: Timerd.self)
            var command = try parseAsRoot(arguments)
            var exitCode = ExitCode.success
            do { try command.run() } catch let code as ExitCode { exitCode = code }
            // A server's output is not its purpose: the server does not fail where some of it was not written.
            if (command as? Serve)?.check ?? true { try Console.checkOutput() }
            return exitCode.rawValue
        } catch let failure as Failure {
            return report(failure)
        } catch {
            return report(error, arguments)
        }
    }

    /// Reports on standard error why the command failed. Returns the exit code.
    private static func report(_ failure: Failure) -> Int32 {
        Console.error("timerd: \(failure.line)")
        return failure.code.rawValue
    }

    /// Prints what the parser threw: help and the version on standard output, anything else as one line on
    /// standard error. Returns the exit code.
    private static func report(_ error: any Error, _ arguments: [String]) -> Int32 {
        let code = exitCode(for: error)
        if code.isSuccess {
            Console.out(fullMessage(for: error))
            do throws(Failure) { try Console.checkOutput() } catch { return report(error) }
            return code.rawValue
        }
        let fault = CommandLineFault(arguments, root: Timerd.self)
        let text = Printable.text(message(for: error).split(separator: "\n").joined(separator: " "))
        Console.error("timerd: \(fault.unknown ?? "\(text); `\(fault.path) --help` tells more")")
        return code.rawValue
    }
}

/// `timerd version`.
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the version.")

    func run() { Console.out("timerd \(Release.version)") }
}
