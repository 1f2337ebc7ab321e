/// The policy of when and how often a failed delivery is tried again.
public struct RetryPolicy: Sendable, Equatable {
    /// Attempts in all, the first included: 1 to 100.
    public var maxAttempts: Int
    /// The milliseconds after its event, or its redrive, at which a delivery is too old to be tried: 1 ms to 36,525
    /// days; nil for no such bound.
    public var maxAgeMs: Int64?
    /// The statuses after which no further attempt is made.
    public var giveUpOn = FinalStatuses()
    /// Milliseconds before the second attempt: 1 ms to 24 hours.
    public var initialMs: Int64
    /// The factor from each wait to the next: 1 to 10.
    public var multiplier: Double
    /// The most milliseconds of a wait, before jitter: ``initialMs`` to 7 days.
    public var maxMs: Int64
    /// The fraction of a wait by which it may be longer or shorter: 0 to 1.
    public var jitter: Double

    /// The standard policy: 12 attempts, after waits of 1 s, 2 s, 4 s and so on to an hour, each up to a fifth
    /// longer or shorter.
    public static let standard = RetryPolicy()

    /// Makes a policy with the standard values as defaults; not checked, see ``validate()``.
    public init(
        maxAttempts: Int = 12, maxAgeMs: Int64? = nil, giveUpOn: FinalStatuses = FinalStatuses(),
        initialMs: Int64 = 1000, multiplier: Double = 2, maxMs: Int64 = 3_600_000, jitter: Double = 0.2
    ) {
        self.maxAttempts = maxAttempts
        self.maxAgeMs = maxAgeMs
        self.giveUpOn = giveUpOn
        self.initialMs = initialMs
        self.multiplier = multiplier
        self.maxMs = maxMs
        self.jitter = jitter
    }

    /// Throws if a member is out of range.
    public func validate() throws(WebhookError) {
        try Self.check((1...100).contains(maxAttempts), "maxAttempts", "`maxAttempts` must be 1 to 100")
        try Self.check(
            maxAgeMs.map { (1...Self.longestAgeMs).contains($0) } ?? true, "maxAge",
            "`maxAge` must be 1 ms to 36,525 d")
        try giveUpOn.validate()
        try Self.check((1...86_400_000).contains(initialMs), "initial", "`initial` must be 1 ms to 24 h")
        // A NaN is in no range.
        try Self.check((1...10).contains(multiplier), "multiplier", "`multiplier` must be 1 to 10")
        try Self.check(maxMs >= initialMs, "max", "`max` must not be shorter than `initial`")
        try Self.check(maxMs <= 604_800_000, "max", "`max` must be at most 7 d")
        try Self.check((0...1).contains(jitter), "jitter", "`jitter` must be 0 to 1")
    }

    private static func check(_ holds: Bool, _ member: String, _ message: String) throws(WebhookError) {
        if !holds { throw WebhookError(member: "retry/\(member)", message: message) }
    }

    /// Returns the milliseconds to wait after the failure of attempt `attempt`, counted from 1.
    ///
    /// The wait is `initial × multiplier^(attempt − 1)`, at most `max`, then longer or shorter by up to `jitter` of
    /// itself, as `draw` decides: at longest `max × (1 + jitter)`. Deliveries that reach `max` together are thus
    /// spread too.
    ///
    /// - Parameter draw: 64 evenly spread bits, the same for the same delivery and attempt.
    public func backoffMs(attempt: Int, draw: UInt64) -> Int64 {
        let exact = Self.power(multiplier, max(attempt, 1) - 1) * Double(initialMs)
        let capped = exact < Double(maxMs) ? exact : Double(maxMs)
        return Self.milliseconds(capped * (1 + jitter * (2 * Self.unit(draw) - 1)))
    }

    /// Returns the milliseconds to wait where the receiver asked for `askedMs` in `Retry-After`.
    ///
    /// The receiver's wait replaces the backoff, whatever `max` is, but it is no shorter than `initial` (a receiver
    /// must not make the server spin) and no longer than 24 hours (nor put a delivery off for years). Jitter only
    /// lengthens it, by up to `jitter` of itself within these 24 hours: no delivery comes before the time, and not all
    /// come at once.
    public func retryAfterMs(_ askedMs: Int64, draw: UInt64) -> Int64 {
        let bounded = min(max(askedMs, initialMs), Self.longestAskedMs)
        return min(Self.milliseconds(Double(bounded) * (1 + jitter * Self.unit(draw))), Self.longestAskedMs)
    }

    /// The longest `maxAge`, in milliseconds: the longest duration there is.
    private static let longestAgeMs: Int64 = 36_525 * 86_400_000
    /// The longest wait that a receiver may ask for, in milliseconds: 24 hours.
    private static let longestAskedMs: Int64 = 86_400_000

    /// Maps `draw` to 0 up to but not including 1.
    private static func unit(_ draw: UInt64) -> Double { Double(draw >> 11) * 0x1p-53 }

    /// Rounds to whole milliseconds, never negative, and defined for every value: a policy that was not checked
    /// must not trap.
    private static func milliseconds(_ value: Double) -> Int64 {
        value > 0 ? Int64(min(value, 0x1p62).rounded()) : 0
    }

    /// Returns a power, exact where it can be: the standard library has no `pow`, and exponents here are below 100.
    private static func power(_ base: Double, _ exponent: Int) -> Double {
        var result = 1.0
        for _ in 0..<min(exponent, 1100) { result *= base }
        return result
    }
}

/// The statuses after which a delivery is not tried again: `giveUpOn`.
public struct FinalStatuses: Sendable, Equatable {
    /// A member of the list.
    public enum Entry: Sendable, Equatable, Hashable {
        /// One status: 300 to 599, but 410.
        case status(Int)
        /// `4xx`: every status from 400 to 499, but those that ask for another attempt.
        case clientErrors
    }

    /// The most members of a list.
    public static let mostEntries = 32
    /// The text that stands for ``Entry/clientErrors``.
    public static let clientErrorsText = "4xx"
    /// The temporary statuses, which `4xx` leaves out: a receiver's time-out, too early, too many requests.
    private static let passing: Set = [408, 425, 429]
    /// The statuses that a list may name, but for 410: no answer ends with a lower one, and 2xx delivers.
    private static let named = 300...599
    /// The status that stops the timer's webhook, whatever the list says.
    private static let gone = 410

    /// The members, each once, in the order in which they were given.
    public private(set) var entries: [Entry] = []

    /// Makes an empty list.
    public init() {}

    /// Makes a list; not checked, see ``validate()``. A repeated member is left out.
    public init(_ entries: [Entry]) { for entry in entries { insert(entry) } }

    /// Whether a delivery that was answered with `status` is not tried again.
    public func contains(_ status: Int) -> Bool {
        entries.contains { entry in
            switch entry {
            case .status(let named): named == status
            case .clientErrors: (400...499).contains(status) && !Self.passing.contains(status)
            }
        }
    }

    /// Adds a member, unless it is there.
    public mutating func insert(_ entry: Entry) { if !entries.contains(entry) { entries.append(entry) } }

    /// Returns why a member is refused; nil where it may be in a list.
    public static func refusal(of entry: Entry) -> String? {
        guard case .status(let status) = entry else { return nil }
        if (200...299).contains(status) { return "\(status) delivers: it can't make a delivery dead" }
        if status == gone { return "410 stops the timer's webhook, so it can't be here" }
        return named.contains(status) ? nil : "a status that ends a delivery is 300 to 599, or \"4xx\""
    }

    /// Throws if there are too many members, or one that is refused.
    func validate() throws(WebhookError) {
        guard entries.count <= Self.mostEntries else {
            throw WebhookError(
                member: "retry/giveUpOn", message: "`giveUpOn` has at most \(Self.mostEntries) different members")
        }
        for entry in entries {
            if let refusal = Self.refusal(of: entry) {
                throw WebhookError(member: "retry/giveUpOn", message: refusal)
            }
        }
    }
}
