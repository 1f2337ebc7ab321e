import ArgumentParser
import HTTPServer
import Platform
import Webhooks
import WireJSON

/// `timerd listen`.
struct Listen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive webhooks and print them, to try them out.",
        discussion: """
            Answers every request 200 and prints it in one line: when, method and path, type and timer of the event, \
            webhook-id, how often that id has come, and whether a secret signed it: ✓ yes, ✗ no and why, unsigned, \
            or unchecked without --secret. Goes on until Ctrl-C.

              timerd listen --port 9000
              timerd listen --port 9000 --secret whsec_… --verbose
              timerd listen --port 9000 --fail-rate 0.3 --seed 12
            """)

    @Option(help: ArgumentHelp("The port on 127.0.0.1; 0: one that is free", valueName: "port")) var port: UInt16 = 9000
    @Option(help: ArgumentHelp("The secret that signs; may repeat", valueName: "whsec_…")) var secret: [String] = []
    @Option(help: ArgumentHelp("Answer 500 to this part of the requests, 0 to 1", valueName: "rate"))
    var failRate: Double = 0
    @Option(help: ArgumentHelp("Seed of the failures: the same number fails the same requests", valueName: "n"))
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

/// Answers webhooks and prints them: the handler of `timerd listen`.
final class WebhookReceiver: LoopHandler {
    /// The options of `timerd listen`.
    struct Settings: Sendable {
        var secrets: [WebhookSecret]
        var failRate: Double
        var seed: UInt64
        var isVerbose: Bool
    }

    /// Most bytes of a body; the server's events are shorter.
    static let bodyLimit = 4 << 20
    /// Most ids that are remembered to count their attempts.
    static let rememberedIDs = 100_000

    private let settings: Settings
    private var random: UInt64
    private var attempts: [String: Int] = [:]

    init(_ settings: Settings) {
        self.settings = settings
        random = settings.seed
    }

    func admit(_ exchange: Exchange) -> Admission { .accept(bodyLimit: Self.bodyLimit) }

    func handle(_ exchange: Exchange, _ answer: consuming Answer) {
        let now = Clocks.realtime()
        let fails = fraction() < settings.failRate
        let delivery = ReceivedWebhook(exchange)
        let attempt = count(delivery.id)
        let mark = delivery.mark(settings.secrets, nowSeconds: now / 1_000_000_000)
        exchange.response.status = fails ? 500 : 200
        Console.out(delivery.line(nowMs: now / 1_000_000, attempt: attempt, mark: mark, status: fails ? 500 : 200))
        if settings.isVerbose, !exchange.body.isEmpty {
            Console.out(Printable.text(String(decoding: exchange.body, as: UTF8.self)))
        }
        answer.send()
    }

    /// Counts an attempt of `id`. Returns the number so far; nil for no id.
    private func count(_ id: String?) -> Int? {
        guard let id else { return nil }
        // Forgotten ids are counted from 1 again; a trial does not send so many.
        if attempts.count >= Self.rememberedIDs, attempts[id] == nil { attempts.removeAll() }
        attempts[id, default: 0] += 1
        return attempts[id]
    }

    /// Returns the next number of the seed's sequence (SplitMix64), from 0 up to but not including 1.
    private func fraction() -> Double {
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ (mixed >> 31)) >> 11) / Double(UInt64(1) << 53)
    }

    func renderRefusal(_ refusal: Refusal, into exchange: Exchange) {
        exchange.response.reset()
        exchange.response.status = refusal.status
    }
}

/// A webhook as it was received, in any of the three formats.
struct ReceivedWebhook {
    /// The `webhook-id`.
    let id: String?
    private let method: String
    private let target: String
    private let timestamp: String?
    private let signature: String?
    private let type: String?
    private let timer: String?
    private let body: [UInt8]

    init(_ exchange: Exchange) {
        let method =
            exchange.method == .other
            ? String(decoding: exchange.methodText, as: UTF8.self)
            : "\(exchange.method)".uppercased()
        let target = String(decoding: exchange.target, as: UTF8.self)
        self.init(method, target, body: exchange.body) { exchange.header($0)?.text }
    }

    /// Reads a request; `header` returns the value of a header by its name.
    init(_ method: String, _ target: String, body: [UInt8], header: (StaticString) -> String?) {
        id = header("webhook-id")
        self.method = method
        self.target = target
        timestamp = header("webhook-timestamp")
        signature = header("webhook-signature")
        self.body = body
        // The event is the body, is in an envelope, or is described by headers.
        let json = JSONObject(body)
        let isEnvelope = json?["specversion"] != nil
        let event = isEnvelope ? json?["data"].flatMap { JSONObject(Array($0.utf8)) } : json
        type = header("timerd-event") ?? event?["type"]
        timer = header("timerd-timer") ?? event?["timer"]
    }

    /// Returns what the line says of the signature: whether one of `secrets` made it.
    func mark(_ secrets: [WebhookSecret], nowSeconds: Int64) -> String {
        guard let id, let timestamp, let signature else { return "unsigned" }
        guard !secrets.isEmpty else { return "unchecked" }
        let verdict = WebhookSignature.verify(
            signature: signature, id: id, timestamp: timestamp, body: body, secrets: secrets, nowSeconds: nowSeconds)
        switch verdict {
        case .valid: return "✓ verified"
        case .malformedTimestamp: return "✗ the timestamp is no number of seconds"
        case .tooOld: return "✗ signed over \(WebhookSignature.toleranceSeconds / 60) minutes ago"
        case .tooNew: return "✗ signed over \(WebhookSignature.toleranceSeconds / 60) minutes ahead"
        case .noMatch: return "✗ another secret or another body"
        }
    }

    /// Returns the line that is printed:
    /// `2026-11-21T09:04:00.000Z  POST /hook  fired  tea  id=1_fired attempt=2  ✓ verified  500`.
    func line(nowMs: Int64, attempt: Int?, mark: String, status: Int) -> String {
        var parts = [RFC3339.text(nowMs), "\(method) \(target)", type ?? "?", timer ?? "?"]
        if let id { parts.append("id=\(id) attempt=\(attempt ?? 1)") }
        parts += [mark, "\(status)"]
        return Printable.text(parts.joined(separator: "  "))
    }
}
