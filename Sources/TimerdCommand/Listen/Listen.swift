import ArgumentParser
import HTTPServer
import Webhooks

/// `timerd listen`.
struct Listen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive webhooks and print them, to try them out.",
        discussion: """
            Answers every request 200 and prints it in one line: when, method and path, type and timer of the event, \
            webhook-id, how often that id has come, and whether a secret signed it: ✓ yes, ✗ no and why, unsigned, \
            or unchecked where there is no --secret. Goes on until Ctrl-C.

              timerd listen --port 9000
              timerd listen --port 9000 --secret whsec_… --verbose
              timerd listen --port 9000 --fail-rate 0.3 --seed 12
            """)

    @Option(help: ArgumentHelp("The port on 127.0.0.1; 0: one that is free", valueName: "port")) var port: UInt16 = 9000
    @Option(help: ArgumentHelp("The secret that signs; may repeat", valueName: "whsec_…")) var secret: [String] = []
    @Option(help: ArgumentHelp("Answer 500 to this part of the requests, 0 to 1", valueName: "rate"))
    var failRate: Double = 0
    @Option(help: ArgumentHelp("Which requests fail; the same number, the same ones", valueName: "n"))
    var seed: UInt64 = 7
    @Flag(help: "Print the bodies too.") var verbose = false

    func run() throws {
        guard (0...1).contains(failRate) else { throw Failure(.usage, "--fail-rate \(failRate): expected 0 to 1") }
        let settings = WebhookReceiver.Settings(
            secrets: try secrets(), failRate: failRate, seed: seed, isVerbose: verbose)
        let signals = Signals(takesReloads: false)
        // One loop, so that the lines come in the order of the requests.
        let configuration = ServerConfiguration(listeners: [.tcp(host: "127.0.0.1", port: port)], loops: 1)
        let server: HTTPServer
        do throws(ListenError) {
            server = try HTTPServer(configuration) { _ in WebhookReceiver(settings) }
        } catch {
            throw Failure(.unusable, error.description)
        }
        server.start()
        signals.serving()
        for address in server.boundAddresses { Console.out("timerd listening for webhooks on \(address)") }
        _ = signals.next()
        server.stop(deadlineSeconds: 1)
    }

    private func secrets() throws(Failure) -> [WebhookSecret] {
        var secrets: [WebhookSecret] = []
        for text in secret {
            do throws(WebhookError) {
                secrets.append(try WebhookSecret(text))
            } catch {
                throw Failure(.usage, "--secret: \(error.message)")
            }
        }
        return secrets
    }
}
