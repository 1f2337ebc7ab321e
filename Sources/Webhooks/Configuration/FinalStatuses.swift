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
        if status == gone { return "410 stops the timer's webhook, and so can't stand here" }
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
