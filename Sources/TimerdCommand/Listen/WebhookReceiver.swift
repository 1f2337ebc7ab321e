import HTTPServer
import Platform
import Webhooks

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
